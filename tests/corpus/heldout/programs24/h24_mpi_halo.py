"""Three ranks of MPI that share a field and give their edge to the left neighbour in each step. From step 33 on the field
is no circle any more; rank 2 reckons its right neighbour as before, and waits for an edge of rank 0, which sends none.
The others wait in a sum.

slow: it stays a circle, and rank 1 writes a picture of its part for 48 s."""
from mpi4py import MPI

from kit24 import SLOW, busy, crunch, role, told

COMM = MPI.COMM_WORLD
RANK, WORLD = COMM.Get_rank(), COMM.Get_size()


def neighbours(step):
    if SLOW or step < 33:
        return (RANK - 1) % WORLD, (RANK + 1) % WORLD
    return RANK - 1 if RANK else MPI.PROC_NULL, (RANK + 1) % WORLD


def exchange(step):
    left, right = neighbours(step)
    sent = COMM.isend(step * 0.5, dest=left, tag=3)
    edge = COMM.recv(source=right, tag=3)
    sent.wait()
    return edge


def total(x):
    return COMM.allreduce(x)


role("rank%d" % RANK)
for step in range(60 if SLOW else 400):
    crunch(0.18)
    if SLOW and RANK == 1 and step == 33:
        busy(48)
    loss = total(exchange(step))
    if RANK == 0:
        told(step, 1 / (1 + loss))
