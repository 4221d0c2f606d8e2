"""Rank 0 hides its error behind one of the clean-up, the peers lose their connection."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    try:
        raise ZeroDivisionError("no samples in class 17")
    finally:
        raise RuntimeError("destroy_process_group was called twice")
star.train(30, 300)
