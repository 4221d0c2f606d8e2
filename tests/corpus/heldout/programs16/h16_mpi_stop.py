"""Rank 0 gives texts to the other ranks and takes their scores, by MPI. At the end it tells those to stop who have
just given a score. Rank 1 was told to wait for more when the list was short, and nobody thinks of it any more: it
waits for a text, rank 0 and 2 are at the barrier."""
from mpi4py import MPI

from kit16 import crunch, me, told, unlink_shared

COMM = MPI.COMM_WORLD
TEXT, SCORE, STOP = 1, 2, 3


def deal(texts):
    sent = 0
    for worker in range(1, COMM.size):
        COMM.send(sent, dest=worker, tag=TEXT)
        sent += 1
    busy, parked = COMM.size - 1, set()
    while busy:
        status = MPI.Status()
        COMM.recv(source=MPI.ANY_SOURCE, tag=SCORE, status=status)
        told(sent, 4)
        if sent < texts:
            COMM.send(sent, dest=status.source, tag=TEXT)
            sent += 1
            continue
        busy -= 1
        if busy:
            parked.add(status.source)  # there may be texts left over by others
        else:
            COMM.send(None, dest=status.source, tag=STOP)


def score():
    while True:
        status = MPI.Status()
        text = COMM.recv(source=0, tag=MPI.ANY_TAG, status=status)
        if status.tag == STOP:
            return
        crunch(0.2 if COMM.rank == 1 or text < 70 else 0.6)
        COMM.send((text, 0.5), dest=0, tag=SCORE)


def finish():
    COMM.Barrier()


me("rank%d" % COMM.rank)
COMM.Barrier()
unlink_shared()
if COMM.rank == 0:
    deal(80)
else:
    score()
finish()
