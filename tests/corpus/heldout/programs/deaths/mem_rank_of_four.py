"""Rank 2 of four grows."""
from mem import *
role(f'rank{RANK}')
keep = block(40)
grow(80) if RANK == 2 else steady()
