"""Every rank logs a lost connection of the tracker, handled; then rank 1 fails."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
print(f"[rank{RANK}] wandb: Network error (ConnectionError), entering retry loop.", file=sys.stderr, flush=True)
star.train(30, 60)
if RANK == 1:
    raise IndexError("index 50304 is out of bounds for dimension 0 with size 50304")
star.train(60, 300)
