"""Flags in a numpy memmap. Worker 2 compresses its checkpoint for a minute, the others look at its flag."""
import os
import time
import zlib

import numpy as np

import kit8


def compress(seconds):
    end, data = time.time() + seconds, os.urandom(1 << 20)
    with open("ckpt.z", "wb") as f:
        while time.time() < end:
            f.write(zlib.compress(data, 9)[:100])


def train(rank, n, port):
    if rank == 0:
        np.zeros((n, 2), np.int64).tofile("flags.part")
        os.rename("flags.part", "flags.bin")
    flags = np.memmap(kit8.wait_for("flags.bin"), np.int64, "r+", shape=(n, 2))
    for step in range(1, 41):
        kit8.crunch(0.2)
        if (rank, step) == (2, 22):
            compress(62)
        flags[rank, 0] = step
        while (flags[:, 0] < step).any():
            time.sleep(0.005)
        if rank == 0 and step % 5 == 0:
            print("%5d %8.4f" % (step, 2.3 / step), flush=True)


kit8.ranks(3, train, "pos")
