"""Rank 2 has fewer data and ends after 5 s; the others go on with slow steps."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def run():
    n = 12 if kit.RANK == 2 else 19
    for i in range(n):
        time.sleep(0.3 if i < 12 else kit.secs(9))
        if kit.RANK != 1:
            kit.step(i)


kit.main(3, run)
