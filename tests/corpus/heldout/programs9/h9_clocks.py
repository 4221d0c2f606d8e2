"""Rank 1 cools its device down for 5 s, and looks at another clock than the one from which the end was made."""
import time

import kit9


def cool_down(seconds):
    until = time.time() + seconds
    while time.monotonic() < until:
        time.sleep(0.5)


def train(rank, n, port):
    ring = kit9.Ring(rank, n, port)
    for s in range(60):
        kit9.crunch(0.2)
        if rank == 1 and s == 15:
            cool_down(5)
        ring.reduce(1.0)
        kit9.step(rank, s, 60)


kit9.ranks(3, train, "slurm")
