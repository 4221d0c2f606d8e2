"""A condition that is notified after a minute."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
import time

cv, ready = threading.Condition(), []


def producer():
    x = 0
    t = time.time() + 61
    while time.time() < t:
        x += sum(range(1000))
        time.sleep(0.02)
    with cv:
        ready.append(x)
        cv.notify()


def run():
    comm = kit.Star()
    for i in range(18):
        kit.work(0.2)
        if i == 12 and kit.rank() == 1:
            threading.Thread(target=producer).start()
            with cv:
                cv.wait_for(lambda: ready)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
