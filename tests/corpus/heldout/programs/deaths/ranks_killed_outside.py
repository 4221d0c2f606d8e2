"""Rank 1 is killed from outside, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
star.train(30, 3000)
