"""The profile of GPU use is taken by a tool that is started with a preexec_fn. This counts the start under a lock, which a thread of the program
has when the child is forked: the child never comes to exec, and who started it waits for that."""
import subprocess
import sys
import threading
import time

from kit11 import crunch, role, with_parent

LOCK, COUNTS = threading.Lock(), {}


def count(what):
    with LOCK:
        COUNTS[what] = COUNTS.get(what, 0) + 1


def reporter():
    while True:
        with LOCK:
            time.sleep(0.7)  # writes the counts to a slow disk
        time.sleep(0.3)


def in_child():
    with_parent()
    role("tool")
    count("tools")


role("main")
threading.Thread(target=reporter, daemon=True).start()
for step in range(200):
    crunch(0.17)
    print("step %d" % step, flush=True)
    if step % 3 == 2:
        subprocess.run([sys.executable, "-c", "pass"], preexec_fn=in_child)
