"""Three ranks of MPI: rank 0 hands out work and takes results. A worker that fails sends a message with another tag, of
which rank 0 knows nothing: it waits for a result of rank 2, which waits for more work."""
from mpi4py import MPI

from kit23 import crunch, role, told

COMM = MPI.COMM_WORLD
RANK, WORLD = COMM.Get_rank(), COMM.Get_size()
TASK, RESULT, ERROR = 1, 2, 3


def hand_out():
    for step in range(400):
        for worker in range(1, WORLD):
            COMM.send(step, dest=worker, tag=TASK)
        for worker in range(1, WORLD):
            COMM.recv(source=worker, tag=RESULT)
        told(step, 3 / (1 + step))


def score(piece):
    crunch(0.18)
    if RANK == 2 and piece == 33:
        raise ValueError("sample %d has no label" % piece)
    return piece * 0.5


def work():
    while True:
        piece = COMM.recv(source=0, tag=TASK)
        try:
            COMM.send(score(piece), dest=0, tag=RESULT)
        except ValueError as error:
            COMM.send(str(error), dest=0, tag=ERROR)


role("rank%d" % RANK)
if RANK == 0:
    hand_out()
else:
    work()
