"""Rank 2 of three gets a label that is no number; the others lose it."""
from kitd15 import *

ranks = Ranks()
for k in range(200):
    float("n/a" if (RANK, k) == (2, 65) else "1.0")
    ranks.step(k)
