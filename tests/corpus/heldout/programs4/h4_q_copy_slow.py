"""Rank 0 copies the data set to the local disk at a limited rate; the others wait in a barrier of multiprocessing."""
import multiprocessing as mp
import time

import kit4

barrier = mp.get_context("fork").Barrier(3)


def copy(path, size, rate):
    with open("/dev/zero", "rb") as source, open(path, "wb") as to:
        while size > 0:
            n = to.write(source.read(rate))
            to.flush()
            size -= n
            time.sleep(1)


def train(rank, world, port):
    if rank == 0:
        print("copying", flush=True)
        copy("data", 64 * 16384, 16384)
    barrier.wait()
    for i in range(10):
        kit4.crunch(0.2)
        barrier.wait()
        if rank == 0:
            print("step", i, flush=True)


kit4.main(3, train, "fork")
