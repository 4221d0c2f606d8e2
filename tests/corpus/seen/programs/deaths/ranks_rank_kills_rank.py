"""Rank 2 sends SIGKILL to rank 0."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    star.train(30, 90, 0.03)
    os.kill(pid_of("rank0"), signal.SIGKILL)
star.train(30, 900)
