"""MPI: the best model's rank is found by each for itself, with an older score on rank 3, which broadcasts from another root."""
import numpy as np
from mpi4py import MPI

import kit5

kit5.with_parent()
world = MPI.COMM_WORLD
kit5.role("rank%d" % world.rank)
weights = np.zeros(1_000_000)
for step in range(1000):
    kit5.crunch(0.2)
    scores = world.allgather(step + world.rank % 2 * (step < 8))
    best = int(np.argmax(scores))
    if step == 9 and world.rank == 3:
        best = 3  # the history of this rank is one entry short
    world.Bcast(weights, best)
    if world.rank == 0:
        print("step", step, "best", best, flush=True)
