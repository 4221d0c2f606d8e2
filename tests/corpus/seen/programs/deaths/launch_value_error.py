"""A launcher starts three ranks, rank 1 has an error, the launcher ends the rest and sums up."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    raise ValueError("attention mask has 5 dimensions")
star.train(30, 300)
