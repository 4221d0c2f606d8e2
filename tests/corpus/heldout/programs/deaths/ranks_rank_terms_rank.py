"""Rank 0 sends SIGTERM to rank 1 as a straggler."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 0:
    star.train(30, 90, 0.03)
    print("[rank0] rank 1 is a straggler, removing it", flush=True)
    os.kill(pid_of("rank1"), signal.SIGTERM)
star.train(30, 900)
