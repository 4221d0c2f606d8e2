"""Rank 0 and rank 2 lock the vocabulary and the index file in opposite order with flock."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import fcntl
import time


def merge(first, second):
    with open(kit.tmp(first), "w") as a, open(kit.tmp(second), "w") as b:
        fcntl.flock(a, fcntl.LOCK_EX)
        time.sleep(0.5)
        fcntl.flock(b, fcntl.LOCK_EX)


def run():
    group = kit.Mesh()
    for i in range(1000):
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 1:
            kit.step(i)
        if i == 13 and kit.RANK != 1:
            merge(*(("vocab", "index") if kit.RANK == 0 else ("index", "vocab")))


kit.main(3, run)
