"""Four ranks of MPI swap the borders of their parts with their neighbours, without a ring: the first has no left one, the last no right
one. After a refactoring a receive is posted for each of two sides where a neighbour is "rank - 1 modulo size", but sends only go to
those that exist: rank 0 waits for a message of rank 3 - from the step on at which the periodic border is switched on.

slow: it stays off, and rank 3 remeshes for 65 s."""
from mpi4py import MPI

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, role

comm = MPI.COMM_WORLD
rank, world = comm.Get_rank(), comm.Get_size()
LEFT, RIGHT = 11, 12


def swap(row, periodic):
    wants, gets = [], {}
    if rank > 0:
        wants.append(comm.isend(row[0], dest=rank - 1, tag=LEFT))
    if rank < world - 1:
        wants.append(comm.isend(row[-1], dest=rank + 1, tag=RIGHT))
    if rank > 0 or periodic:
        gets["left"] = comm.irecv(source=(rank - 1) % world, tag=RIGHT)
    if rank < world - 1:
        gets["right"] = comm.irecv(source=rank + 1, tag=LEFT)
    values = dict(zip(gets, MPI.Request.waitall(list(gets.values()))))
    MPI.Request.waitall(wants)
    return values


def main():
    role("rank%d" % rank)
    row, model, report = [float(rank)] * 8, Model(rank), Report("stderr", rank)
    for step in range(STEPS):
        model.gradient()
        if SLOW and rank == 3 and step == STALL:
            busy(65)
        border = swap(row, periodic=step >= STALL and not SLOW)
        row = [0.5 * (a + b) for a, b in zip(row, [border.get("left", row[0])] + row[:-1])]
        residual = comm.allreduce(abs(row[0] - row[-1]))
        if rank == 0:
            report(step, residual)


main()
