"""Rank 2 evaluates for 70 s in pure Python while the others wait at a ring barrier."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def evaluate(limit):
    end, right = time.time() + limit, 0
    while time.time() < end:
        for k in range(20000):
            right += k % 7 == 3
        time.sleep(0.05)
    return right


def run():
    group = kit.Ring()
    for i in range(18):
        time.sleep(0.25)
        if i == 12 and kit.RANK == 2:
            evaluate(kit.secs(70))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
