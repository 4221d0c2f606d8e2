"""Flags in a numpy memmap. Worker 2 has one file less than the others, has left its loop and waits until all are done."""
import os
import time

import numpy as np

import kit8


def all_at(flags, step):
    while (flags[:, 0] < step).any():
        time.sleep(0.005)


def all_done(flags):
    while not flags[:, 1].all():
        time.sleep(0.05)


def train(rank, n, port):
    if rank == 0:
        np.zeros((n, 2), np.int64).tofile("flags.part")
        os.rename("flags.part", "flags.bin")
    flags = np.memmap(kit8.wait_for("flags.bin"), np.int64, "r+", shape=(n, 2))
    files = [400, 400, 22, 400][rank]
    for step in range(1, files + 1):
        kit8.crunch(0.2)
        flags[rank, 0] = step
        all_at(flags, step)
        if rank == 0 and step % 5 == 0:
            print("%5d %8.4f" % (step, 2.3 / step), flush=True)
    flags[rank, 1] = 1
    all_done(flags)


kit8.ranks(4, train, "pos")
