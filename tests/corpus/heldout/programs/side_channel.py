"""Rank 3 waits for a helper to call in; the helper was never started."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
def open_side(k):
    s = kit.bind(k)
    c, _ = s.accept()
    return c


def run():
    comm = kit.Star()
    kit.services(3)
    for i in range(1000):
        kit.work(0.25)
        if i == 14 and kit.rank() == 3:
            open_side(kit.port(15))
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
