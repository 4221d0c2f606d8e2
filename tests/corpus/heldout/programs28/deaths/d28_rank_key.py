"""Three ranks in a ring. Rank 1's batch lacks a key; the others lose their neighbour."""
from kitd28 import RANK, ranks, step

ring = ranks()
for k in range(200):
    if RANK == 1 and k == 40:
        {"input_ids": [1]}["attention_mask"]
    step(ring, k)
