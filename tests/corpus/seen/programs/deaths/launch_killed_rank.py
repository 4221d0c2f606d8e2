"""A rank under a launcher is killed from outside."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
star.train(30, 3000)
