"""Rank 0 writes a checkpoint to a slow disk, in large pieces each of which takes its time; others are in the all-reduce."""
import os
import time

import kit4


def save(path, pieces):
    with open(path, "wb") as f:
        for _ in range(pieces):
            f.write(os.urandom(1 << 20))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(1.5)


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    for i in range(25):
        kit4.crunch(0.2)
        ring.reduce(1)
        if rank == 0:
            print("step %d" % i, flush=True)
            if i == 12:
                save("model.pt", 40)


kit4.main(4, train, "arg")
