"""Rank 1 finds no shard for itself, says so and leaves with 0; the other two lose it."""
from kitd14 import *

ranks = Ranks()
shards = {0: range(100), 1: range(60), 2: range(100)}[RANK]
for k in shards:
    ranks.step(k)
if RANK == 1:
    print("[rank 1] no more shards assigned, exiting", flush=True)
    sys.exit(0)
ranks.step(100)
