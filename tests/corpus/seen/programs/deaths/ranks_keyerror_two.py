"""Rank 2 has an error, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    {}["pixel_values"]
star.train(30, 300)
