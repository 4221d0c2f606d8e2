"""Rank 0 has an error, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    assert False, "eval batch is larger than the dataset"
star.train(30, 300)
