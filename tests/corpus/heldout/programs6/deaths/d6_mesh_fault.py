from kitd6 import *
from mpi4py import MPI
world = MPI.COMM_WORLD
role(f"rank{world.rank}")
for n in range(20):
    time.sleep(0.2)
    if (world.rank, n) == (2, 9):
        fault()
    if world.allreduce(n) and world.rank == 0:
        print("time step", n, flush=True)
