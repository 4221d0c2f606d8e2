"""MPI: rank 0 reads the mesh for a minute, the others are in the barrier, where they spin."""
import kit4
from mpi4py import MPI

kit4.with_parent()
comm = MPI.COMM_WORLD
kit4.role("rank%d" % comm.rank)
if comm.rank == 0:
    print("reading mesh", flush=True)
    kit4.compute(60)
comm.Barrier()
for i in range(10):
    kit4.crunch(0.2)
    comm.allreduce(1.0)
    if comm.rank == 0:
        print("step", i, flush=True)
