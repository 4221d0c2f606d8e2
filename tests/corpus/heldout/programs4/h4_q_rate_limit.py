"""Rank 2 was told "429, Retry-After: 70" by an API and does so; the others wait in the all-reduce."""
import time

import kit4


def label(i):
    if i == 9:
        time.sleep(70)
    return i % 3


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    for i in range(20):
        if rank == 2:
            label(i)
        kit4.crunch(0.2)
        ring.reduce(1)
        if rank == 0:
            print("batch %d" % i, flush=True)


kit4.main(4, train)
