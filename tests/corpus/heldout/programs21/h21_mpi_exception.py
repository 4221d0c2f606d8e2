"""Three ranks of MPI. Rank 2 fails by an error of Python and is on its way out, where MPI's end waits for all ranks; the
others are in a sum that waits for rank 2."""
from mpi4py import MPI

from kit21 import STEPS, crunch, role, told

COMM = MPI.COMM_WORLD
RANK = COMM.Get_rank()


def load(step):
    row = {"x": 1.0, "y": 0} if RANK != 2 or step != 40 else {"x": 1.0}
    return row["x"] + row["y"]


role("rank%d" % RANK)
for step in range(STEPS):
    x = load(step)
    crunch(0.2)
    COMM.allreduce(x)
    if RANK == 0:
        told(step)
