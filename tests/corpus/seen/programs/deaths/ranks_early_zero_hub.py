"""Rank 0 ends with 0 after its last step; the others still want to sum."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    print("[rank0] reached max_steps, done", flush=True)
    os._exit(0)
star.train(30, 300)
