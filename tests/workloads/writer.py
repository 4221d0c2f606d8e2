"""Writes MIB of bytes that no filter would leave as they are to stdout, and others to stderr.

writer.py MIB: byte i of stdout is from a fixed generator with seed 1, of stderr with seed 2.
"""
import os
import random
import sys
import threading


def data(mib, seed):
    return random.Random(seed).randbytes(mib << 20)


def write_all(fd, left):
    left = memoryview(left)
    while left:
        left = left[os.write(fd, left[:100_000]):]


if __name__ == "__main__":
    threads = [threading.Thread(target=write_all, args=(seed, data(int(sys.argv[1]), seed))) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
