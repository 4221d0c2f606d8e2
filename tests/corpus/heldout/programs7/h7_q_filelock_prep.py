"""Slurm's names. Rank 0 has the lock of the cache and hashes for 62 s, the others come for it and then go on."""
import fcntl
import hashlib
import time

import kit7


def prepare(seconds):
    end, digest = time.time() + seconds, b""
    while time.time() < end:
        digest = hashlib.sha256(digest * 1000).digest()


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    for step in range(20):
        if step == 10:
            with open("cache.lock", "w") as lock:
                time.sleep(0.5 if rank else 0)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if rank == 0:
                    prepare(62)
        kit7.crunch(0.2)
        line.reduce()
        if rank == 0:
            print("Train Epoch: 1 [%d/1280 (%.0f%%)]\tLoss: %.6f" % (step * 64, step * 5, 2 / (step + 1)), flush=True)


kit7.ranks(3, train, "slurm")
