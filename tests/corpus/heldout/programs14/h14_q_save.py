"""Rank 1 writes its part of a checkpoint to a slow disk, 45 s long; the other two wait for its gradient."""
import os
import time

from kit14 import Store, crunch, main, told


def save(rank, step):
    with open("shard%d-%d.pt" % (rank, step), "wb") as f:
        for _ in range(90 if rank == 1 else 2):
            f.write(os.urandom(1 << 16))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(0.5)


def body(rank, world, port):
    store = Store(rank, world, port)
    for step in range(90):
        crunch(0.13)
        store.all_reduce("grad/%d" % step, 1)
        if rank == 0:
            told(step)
        if step == 60:
            save(rank, step)


main(3, body)
