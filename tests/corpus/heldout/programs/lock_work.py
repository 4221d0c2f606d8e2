"""A thread holds the lock for a minute and works; the main thread wants it."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
import time

table = {}
guard = threading.Lock()


def refresh(sec):
    with guard:
        t = time.time() + sec
        while time.time() < t:
            table[len(table) % 1000] = sum(range(5000))
            time.sleep(0.01)


def run():
    comm = kit.Star()
    for i in range(22):
        kit.work(0.2)
        if i == 14 and kit.rank() == 2:
            threading.Thread(target=refresh, args=(60,)).start()
            time.sleep(0.1)
        with guard:
            table["i"] = i
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
