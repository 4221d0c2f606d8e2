"""Rank 2 has less data, ends early and exits; the others go on and pause."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import time


def run():
    r = kit.rank()
    a = kit.Star()
    for i in range(12):
        kit.work(0.25)
        a.all_reduce(1)
        if r == 0:
            kit.step(i)
    if r == 2:
        return
    for i in range(12, 16):
        time.sleep(14)
        if r == 0:
            kit.step(i)


kit.go(3, run)
