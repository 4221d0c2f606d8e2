"""A rank under a launcher leaves with 7 and no word."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    os._exit(7)
star.train(30, 300)
