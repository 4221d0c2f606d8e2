"""Rank 3 has no GPU memory left, the others lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 3:
    class OutOfMemoryError(RuntimeError):
        __module__ = "torch"
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1.50 GiB. GPU 3 has a total capacity of 79.15 GiB of which 812.00 MiB is free. "
                           "Process 91234 has 78.30 GiB memory in use.")
star.train(30, 300)
