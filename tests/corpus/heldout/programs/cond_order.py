"""Two threads of rank 2 take a lock and a condition in opposite order."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
import time

table, cv = threading.RLock(), threading.Condition(threading.Lock())


def updater(at):
    at.wait()
    with cv:
        time.sleep(0.6)
        with table:
            cv.notify()


def publish():
    with table:
        time.sleep(0.6)
        with cv:
            cv.notify()


def run():
    at = threading.Event()
    m = kit.Mesh()
    kit.services(2)
    if kit.rank() == 2:
        threading.Thread(target=updater, args=(at,), daemon=True).start()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 2:
            at.set()
            publish()
        m.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run, mesh=True)
