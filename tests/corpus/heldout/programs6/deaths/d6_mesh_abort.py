from kitd6 import *
from mpi4py import MPI
world = MPI.COMM_WORLD
role(f"rank{world.rank}")
for n in range(20):
    time.sleep(0.2)
    if world.allreduce(n) and world.rank == 0:
        print("refined", n, flush=True)
    if (world.rank, n) == (1, 9):
        say("[1] mesh is not conforming at face 812")
        world.Abort(7)
