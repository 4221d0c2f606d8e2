"""Rank 1 takes a plain lock again in a callback under the lock. Arg: kind of lock."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import threading

guard = mp.Lock() if sys.argv[1] == "mp" else threading.Lock()


class Buffer:
    def __init__(self, on_full):
        self.rows, self.on_full = [], on_full

    def add(self, x):
        with guard:
            self.rows.append(x)
            if len(self.rows) > 15 and kit.rank() == 1:
                self.on_full(self)

    def drain(self):
        with guard:
            self.rows = []


def run():
    comm = kit.Star()
    if sys.argv[1] == "mp":
        kit.services(2)
    buf = Buffer(Buffer.drain)
    for i in range(1000):
        kit.work(0.25)
        buf.add(i)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
