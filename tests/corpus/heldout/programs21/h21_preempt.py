"""Two ranks. The scheduler sends SIGUSR1 before it takes the machine away, and the handler saves a checkpoint. The signal
comes while rank 0 is saving already, with a lock that the handler wants too."""
import os
import signal
import sys
import threading
import time

from kit21 import STEPS, Hub, crunch, main, start, told

LOCK = threading.Lock()
SCHEDULER = """
import os, signal, sys, time
while not os.path.exists("saving"):
    time.sleep(0.05)
time.sleep(0.3)
os.kill(int(sys.argv[1]), signal.SIGUSR1)
time.sleep(600)
"""


def write(step):
    with open("ckpt-%d.tmp" % step, "w") as f:
        for part in range(8):
            f.write("x" * 1000)
            time.sleep(0.25)
    os.rename("ckpt-%d.tmp" % step, "ckpt-%d" % step)


def save(step):
    with LOCK:
        open("saving", "w").close()
        write(step)


def on_preempt(number, frame):
    save(-1)


def body(rank, world, port):
    hub = Hub(rank, world, port)
    if rank == 0:
        signal.signal(signal.SIGUSR1, on_preempt)
        start([sys.executable, "-c", SCHEDULER, str(os.getpid())], "scheduler")
    for step in range(STEPS):
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            if step == 40:
                save(step)


main(2, body)
