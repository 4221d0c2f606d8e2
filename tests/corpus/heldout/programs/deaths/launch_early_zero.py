"""Rank 2 ends early with 0, the others fail because of it."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    print("[rank2] dataset is exhausted", flush=True)
    os._exit(0)
star.train(30, 300)
