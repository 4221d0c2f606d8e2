"""Rank 1 computes its part of a mesh for 62 s, the others are in the reduction of MPI."""
from mpi4py import MPI

import kit6

world = MPI.COMM_WORLD
kit6.with_parent()
kit6.role("rank%d" % world.rank)
for step in range(20):
    kit6.crunch(0.2)
    if (world.rank, step) == (1, 10):
        kit6.compute(62)
    if world.allreduce(1) and world.rank == 0:
        print("step", step, flush=True)
