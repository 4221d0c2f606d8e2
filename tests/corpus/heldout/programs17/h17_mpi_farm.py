"""Rank 0 hands one task a round to each of two workers by MPI and takes a result from each. Rank 1 cannot decode one of
its tasks, tells that and goes on to wait for the next one, without a result. Rank 0 waits for it, the workers wait for
rank 0.

slow: rank 1 decodes for 46 s."""
import sys
import time

from mpi4py import MPI
from kit17 import SLOW, busy, crunch, me, told, unlink_shared

comm = MPI.COMM_WORLD
rank, world = comm.Get_rank(), comm.Get_size()


def take(source):
    while not comm.Iprobe(source):
        time.sleep(0.01)
    return comm.recv(source=source)


def work():
    while True:
        task = take(0)
        if task is None:
            return
        crunch(0.15)
        if task == 90:
            if SLOW:
                busy(46)
            else:
                print("rank %d: task %d cannot be decoded, left out" % (rank, task), file=sys.stderr, flush=True)
                continue
        comm.send((task, 0.5), dest=0)


def farm():
    for step in range(70 if SLOW else 400):
        for r in range(1, world):
            comm.send(2 * step + r - 1, dest=r)
        for r in range(1, world):
            take(r)
        told(step)
    for r in range(1, world):
        comm.send(None, dest=r)


me("rank%d" % rank)
comm.Barrier()
if rank == 0:
    unlink_shared()
    farm()
else:
    work()
