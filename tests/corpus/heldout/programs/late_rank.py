"""One rank joins a minute late; the others accept and wait."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time


def run():
    if kit.rank() == 2:
        time.sleep(61)
    comm = kit.Star() if kit.rank() != 2 else late()
    for i in range(10):
        kit.work(0.3)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


def late():
    return kit.Star()


kit.go(3, run)
