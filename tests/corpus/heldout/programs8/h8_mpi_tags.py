"""Rank 0 gives tasks. Rank 2 met a task it cannot do and now waits for the end by its tag; rank 0 waits for its answer."""
from mpi4py import MPI

import kit8

TASK, DONE, END = 1, 2, 3
comm = MPI.COMM_WORLD
rank, n = comm.Get_rank(), comm.Get_size()
kit8.with_parent()
kit8.role("rank%d" % rank)
if rank == 0:
    for number in range(1000):
        for r in range(1, n):
            comm.send({"number": number, "text": "x" * 100}, r, TASK)
        scores = [comm.recv(source=r, tag=DONE) for r in range(1, n)]
        print("tasks %d..%d done, mean score %.3f" % (number * 2, number * 2 + 1, sum(scores) / len(scores)), flush=True)
    for r in range(1, n):
        comm.send(None, r, END)
else:
    try:
        while True:
            task = comm.recv(source=0, tag=TASK)
            kit8.crunch(0.25)
            if (rank, task["number"]) == (2, 18):
                task["label"]
            comm.send(0.5, 0, DONE)
    except KeyError as error:
        print("rank %d: cannot do task: no %s" % (rank, error), flush=True)
    comm.recv(source=0, tag=END)
