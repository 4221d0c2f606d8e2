"""Rank 0 hands out tasks and collects results by MPI. At the end it tells the workers to stop, the last one excepted,
for its range ends too early. Rank 2 waits for a task, the others in the barrier.

slow: all are told, and the last task of rank 2 takes 48 s."""
from mpi4py import MPI

from kit20 import SLOW, busy, crunch, me, told, unlink_shared

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
TASKS = 50


def manage():
    status, given = MPI.Status(), 0
    for r in range(1, size):
        world.send(given, dest=r)
        given += 1
    for done in range(TASKS):
        world.recv(source=MPI.ANY_SOURCE, status=status)
        told(done)
        if given < TASKS:
            world.send(given, dest=status.Get_source())
            given += 1
    for r in range(1, size if SLOW else size - 1):
        world.send(None, dest=r)


def work():
    while True:
        task = world.recv(source=0)
        if task is None:
            return
        crunch(0.4)
        if SLOW and rank == 2 and task >= TASKS - 2:
            busy(48)
        world.send(task * 2, dest=0)


me("rank%d" % rank)
unlink_shared()
if rank == 0:
    manage()
else:
    work()
world.Barrier()
