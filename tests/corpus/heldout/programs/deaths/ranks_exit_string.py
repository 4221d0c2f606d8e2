"""Rank 2 leaves by sys.exit with a text."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    sys.exit("rank 2: data checksum mismatch at step 30")
star.train(30, 300)
