"""Two ranks. Rank 0's schedule says the budget is spent, it leaves with 0 in the middle; rank 1 loses it."""
import sys

from kitd28 import RANK, ranks, step

ring = ranks()
for k in range(200):
    if RANK == 0 and k == 40:
        print("rank 0: budget of 40 steps is spent, bye", flush=True)
        sys.exit(0)
    step(ring, k)
