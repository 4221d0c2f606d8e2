"""Rank 2 reads at an address that is not mapped, in C; three others lose it."""
from kitd10 import *

g = Group(4)
for s in range(100):
    g.steps(1, s)
    if RANK == 2 and s == 9:
        fault()
