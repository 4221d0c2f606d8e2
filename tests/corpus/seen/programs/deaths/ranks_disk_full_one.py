"""Rank 0 cannot write the checkpoint, the disk is full."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    with open("/dev/full", "w") as f:
        f.write("w" * 100000)
star.train(30, 300)
