"""Slurm's names. Whoever has the lock of the cache builds it; rank 0 calls the barrier while it still has the lock, the others come for it first."""
import fcntl
import time

import kit7


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    for step in range(15):
        kit7.crunch(0.2)
        line.reduce()
        if rank == 0:
            print("Train Epoch: 1 [%d/960 (%.0f%%)]\tLoss: %.6f" % (step * 64, step / 15 * 100, 2 / (step + 1)), flush=True)
    lock = open("cache.lock", "w")
    time.sleep(0.8 if rank else 0)
    fcntl.flock(lock, fcntl.LOCK_EX)
    kit7.crunch(0.2)
    line.reduce()
    fcntl.flock(lock, fcntl.LOCK_UN)


kit7.ranks(4, train, "slurm")
