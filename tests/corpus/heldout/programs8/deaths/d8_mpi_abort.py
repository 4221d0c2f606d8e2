from mpi4py import MPI
from kitd8 import *
comm = MPI.COMM_WORLD
for s in range(6):
    time.sleep(0.2)
    comm.allreduce(s)
if comm.rank == 1:
    say("rank 1: halo of 3 cells does not fit tile 17")
    comm.Abort(6)
comm.allreduce(1)
