"""The launcher itself is ended from outside."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
star.train(30, 3000)
