"""A cleaner keeps the lock of the cache while it asks the trainer for its health; the trainer answers between steps, and wants the lock now."""
import fcntl
import os
import select
import sys

import kit6


def clean(port):
    f = open("cache.lock", "w")
    for turn in range(1000):
        kit6.crunch(0.9)
        fcntl.flock(f, fcntl.LOCK_EX)
        kit6.crunch(0.3)
        if turn > 1:
            link = kit6.dial(port)
            kit6.send(link, "health")
            kit6.receive(link)
        fcntl.flock(f, fcntl.LOCK_UN)


def answer(door):
    while select.select([door], [], [], 0)[0]:
        link, _ = door.accept()
        kit6.receive(link)
        kit6.send(link, "ok")
        link.close()


def main():
    kit6.role("main")
    port = kit6.free_port()
    door, f = kit6.listen(port), open("cache.lock", "w")
    kit6.start([sys.executable, __file__, str(port)], "cleaner")
    for step in range(1000):
        answer(door)
        fcntl.flock(f, fcntl.LOCK_EX)
        kit6.crunch(0.2)
        fcntl.flock(f, fcntl.LOCK_UN)
        print("step", step, flush=True)


clean(int(sys.argv[1])) if sys.argv[1:] else main()
