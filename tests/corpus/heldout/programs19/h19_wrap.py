"""Two ranks share a byte each, in which they count their steps, and wait until the other one's is as far as they are.
Each knows its own step as a number, which goes on behind 255; the bytes become 0, and both wait for 256.

slow: the counts have 32 bits, and rank 1 works for 48 s at step 200."""
import ctypes
import mmap
import time

from kit19 import SLOW, busy, crunch, main, told

MEMORY = mmap.mmap(-1, 4096)
COUNTS = ((ctypes.c_uint32 if SLOW else ctypes.c_uint8) * 2).from_buffer(MEMORY)


def meet(rank, step):
    COUNTS[rank] += 1
    while COUNTS[1 - rank] < step + 1:
        time.sleep(0.002)


def body(rank, world, port):
    for step in range(300 if SLOW else 3000):
        crunch(0.035)
        if SLOW and (rank, step) == (1, 200):
            busy(48)
        meet(rank, step)
        if rank == 0:
            told(step, 20)


main(2, body, "fork")
