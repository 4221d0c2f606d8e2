"""A thread writes the log under a lock while the main thread forks workers that log as well."""
import os
import threading
import time

import kit4

lock = threading.Lock()
journal = open("prepare.log", "w", 1)


def log(*words):
    with lock:
        print(*words, file=journal)
        time.sleep(0.3)


def chatter():
    while True:
        log("heartbeat")
        time.sleep(0.3)


def worker(k, out):
    log("worker", k, "starts")
    os.write(out, b"%d" % k)
    os._exit(0)


kit4.role("main")
for k in range(3):
    print("preparing", k, flush=True)
    kit4.crunch(0.4)
threading.Thread(target=chatter, daemon=True).start()
r, w = os.pipe()
time.sleep(0.1)
pid = os.fork()
if pid == 0:
    kit4.with_parent()
    kit4.role("worker")
    worker(0, w)
os.close(w)
print("worker said", os.read(r, 10), flush=True)
