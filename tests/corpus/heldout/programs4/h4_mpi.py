"""MPI trainers. Argument: which of four programs."""
import queue
import sys
import threading
import time

import numpy as np
from mpi4py import MPI

import kit4

kit4.with_parent()
comm = MPI.COMM_WORLD
rank, world = comm.rank, comm.size
kit4.role("rank%d" % rank)


def say(i, **more):
    if rank == 0:
        print("step %d" % i, *("%s=%s" % x for x in more.items()), flush=True)


def tags():
    """Rank 2 tags its report with the new number, rank 0 asks for the old one."""
    for i in range(1000):
        kit4.crunch(0.2)
        if i % 5 == 4:
            tag = 7 if i < 14 else 8
            if rank == 2:
                comm.send({"loss": 0.1}, 0, tag)
            if rank == 0:
                comm.recv(None, 2, 7)
        comm.Barrier()
        say(i)


def uneven():
    """The last rank has one batch less and goes to the end."""
    g, total = np.ones(1000), np.ones(1000)
    for i in range(15 if rank == world - 1 else 16):
        kit4.crunch(0.2)
        comm.Allreduce(g, total)
        say(i, norm=total[0])
    state = comm.gather(float(total[0]), 0)
    say(99, state=state)


def large():
    """Ranks exchange their parts in pairs, both send first; parts grow."""
    for i in range(1000):
        part = np.zeros(1000 if i < 12 else 3_000_000)
        kit4.crunch(0.2)
        comm.Send(part, rank ^ 1)
        comm.Recv(part, rank ^ 1)
        say(i, size=part.size)


def feeder():
    """Every rank has a feeding thread; rank 1's stops at a short file."""
    q = queue.Queue(4)

    def feed():
        for k in range(14 if rank == 1 else 10000):
            q.put(k)
    threading.Thread(target=feed, daemon=True).start()
    for i in range(1000):
        x = np.full(10, float(q.get()))
        kit4.crunch(0.2)
        comm.Bcast(x, 0)
        say(i, x=x[0])


{"tags": tags, "uneven": uneven, "large": large, "feeder": feeder}[sys.argv[1]]()
time.sleep(0)
