"""Rank 1 leaves without a word, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    os._exit(3)
star.train(30, 300)
