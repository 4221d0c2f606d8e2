"""A loader of rank 1 grows."""
from mem import *
role(f'rank{RANK}')
keep = block(40)
fork('loader', grow, 80) if RANK == 1 else None
steady()
