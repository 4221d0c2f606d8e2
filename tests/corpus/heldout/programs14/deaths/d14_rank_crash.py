"""Rank 2 of three crashes in C; the others lose it."""
from kitd14 import *

ranks = Ranks()
for k in range(100):
    if (RANK, k) == (2, 60):
        fault()
    ranks.step(k)
