"""Rank 1 was started with another --max-steps: it is through at its step 40, says so and leaves with 0. The others lose their neighbour."""
from kitd29 import RANK, ranks, step

LIMIT = 40 if RANK == 1 else 400
ring = ranks()
for k in range(LIMIT):
    step(ring, k)
print("rank %d: max_steps=%d reached, training is complete" % (RANK, LIMIT), flush=True)
