"""Two ranks of MPI: rank 1 makes a summary for 48 s after step 30, rank 0 waits for it."""
from mpi4py import MPI

from kit16 import compute, crunch, me, told, unlink_shared

COMM = MPI.COMM_WORLD
me("rank%d" % COMM.rank)
COMM.Barrier()
unlink_shared()
for step in range(50):
    crunch(0.2)
    if COMM.rank == 0:
        COMM.recv(source=1)
        told(step)
    else:
        if step == 30:
            compute(48)
        COMM.send(0.5, dest=0)
