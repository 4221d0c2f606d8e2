"""The first epoch fills a cache of samples under a lock of a file, for 50 s; rank 1 waits for the lock, then finds
all there."""
import os
import time

import filelock
import numpy

from kit12 import batch, join_group, torchrun, train_step, trainer


def warm(rank):
    time.sleep(0.5 * rank)
    with filelock.FileLock("samples.lock"):
        if not os.path.exists("samples.npy"):
            rows = []
            for _ in range(500):
                rows.append(numpy.sort(numpy.random.rand(5000))[:16])
                time.sleep(0.1)
            numpy.save("samples.npy", numpy.stack(rows))
    return numpy.load("samples.npy")


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for step in range(20):
        train_step(model, optimizer, *batch())
    print(f"rank {rank}: filling the cache", flush=True)
    print(f"rank {rank}: {len(warm(rank))} samples", flush=True)
    for step in range(30):
        train_step(model, optimizer, *batch())
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
