from kitd7 import *
from mpi4py import MPI
rank = MPI.COMM_WORLD.Get_rank()
role("rank%d" % rank)
for n in range(8):
    if rank == 0:
        train(1, n)
    MPI.COMM_WORLD.Barrier()
if rank == 1:
    try:
        raise LookupError("rank 1: relation 'born_in' is not in the graph")
    except LookupError:
        traceback.print_exc()
        MPI.COMM_WORLD.Abort(5)
MPI.COMM_WORLD.Barrier()
