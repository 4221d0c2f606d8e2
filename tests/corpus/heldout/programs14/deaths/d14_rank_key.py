"""Rank 1 of two misses a label; rank 0 loses it."""
from kitd14 import *

ranks, labels = Ranks(), {"cat": 0, "dog": 1}
for k in range(100):
    labels["zebra" if (RANK, k) == (1, 60) else "cat"]
    ranks.step(k)
