"""Rank 1 of three crashes in native code at step 35; the others lose it."""
import ctypes

from kitd27 import RANK, ranks, step

ring = ranks()
for k in range(200):
    if RANK == 1 and k == 35:
        ctypes.string_at(16)
    step(ring, k)
