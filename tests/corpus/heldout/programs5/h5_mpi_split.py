"""MPI: rows and columns of a 2x2 grid. From step 10 on rank 3 reduces over its column first, rank 0 over its row, 1 and 2 as it comes."""
import numpy as np
from mpi4py import MPI

import kit5

kit5.with_parent()
world = MPI.COMM_WORLD
kit5.role("rank%d" % world.rank)
row = world.Split(world.rank // 2)
column = world.Split(world.rank % 2)
x, y = np.ones(10), np.empty(10)
for step in range(1000):
    kit5.crunch(0.2)
    # row of 0,1 and 2,3; column of 0,2 and 1,3: 0 waits for 1, 1 for 3, 3 for 2, 2 for 0
    first_row = step < 10 or world.rank in (0, 3)
    for group in (row, column) if first_row else (column, row):
        group.Allreduce(x, y)
    if world.rank == 0:
        print("step", step, y[0], flush=True)
