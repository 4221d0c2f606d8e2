"""Ranks under mpiexec; the other ranks spin in MPI. Arg: what goes wrong."""
import os
import sys
if "RANK" not in os.environ:
    r = os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0"
    n = os.environ.get("PMI_SIZE") or os.environ.get("OMPI_COMM_WORLD_SIZE") or "1"
    os.environ.update(RANK=r, LOCAL_RANK=r, WORLD_SIZE=n)
    os.execv(sys.executable, [sys.executable] + sys.argv)
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import queue

from mpi4py import MPI

import kit


def main():
    kit.die_with_parent()
    comm = MPI.COMM_WORLD
    r, n = comm.rank, comm.size
    kit.role("rank%d" % r)
    todo = queue.Queue()
    for i in range(1000):
        kit.work(0.25)
        if i == 14 and sys.argv[1] == "order" and r < 2:
            comm.ssend(bytes(100), 1 - r)
            comm.recv(source=1 - r)
        if i == 14 and sys.argv[1] == "queue" and r == 1:
            todo.get()
        comm.allreduce(1.0)
        if r == 0:
            kit.step(i)


main()
