"""Two ranks of MPI that send each other their activations and receive then. It goes well as long as these are small, as
MPI keeps small messages itself; from step 40 on sequences are longer, and both wait in `send`.

slow: they exchange by sendrecv, and rank 1 computes for 48 s at step 40."""
from mpi4py import MPI

from kit21 import SLOW, STEPS, busy, crunch, role, told

COMM = MPI.COMM_WORLD
RANK = COMM.Get_rank()


def exchange(activations):
    if SLOW:
        return COMM.sendrecv(activations, dest=1 - RANK, source=1 - RANK)
    COMM.send(activations, dest=1 - RANK)
    return COMM.recv(source=1 - RANK)


role("rank%d" % RANK)
for step in range(STEPS):
    crunch(0.2)
    if SLOW and RANK == 1 and step == 40:
        busy(48)
    exchange(bytes((40 if step < 40 else 40000) * 128))
    if RANK == 0:
        told(step)
