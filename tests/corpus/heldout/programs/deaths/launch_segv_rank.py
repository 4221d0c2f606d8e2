"""A rank under a launcher segfaults."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
star.train(30, 90)
if RANK == 0:
    import ctypes
    ctypes.string_at(0)
star.train(30, 300)
