"""Rank 1 of three has read another number of epochs, is done, and leaves with 0; the others lose it."""
from kitd15 import *

ranks = Ranks()
for k in range(70 if RANK == 1 else 140):
    ranks.step(k)
if RANK == 1:
    print("rank 1: training finished after 70 steps", flush=True)
