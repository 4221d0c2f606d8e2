"""A rank under a launcher of the job's own grows."""
from mem import *
role(f'rank{RANK}')
grow(80) if RANK == 1 else steady()
