"""Rank 1 leaves with 3 by choice and says why."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    print("[rank1] budget of 30 steps is used up on this node, leaving with 3", flush=True)
    sys.exit(3)
star.train(30, 300)
