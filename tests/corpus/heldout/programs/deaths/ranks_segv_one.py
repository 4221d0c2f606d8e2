"""Rank 1 segfaults, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 1:
    import ctypes
    ctypes.string_at(0)
star.train(30, 300)
