"""Rank 0 gives tasks; rank 2 multiplies for 62 s on one of them."""
import time

import numpy as np
from mpi4py import MPI

import kit8

TASK, DONE = 1, 2
comm = MPI.COMM_WORLD
rank, n = comm.Get_rank(), comm.Get_size()
kit8.with_parent()
for number in range(25):
    if rank == 0:
        for r in range(1, n):
            comm.send({"number": number}, r, TASK)
        scores = [comm.recv(source=r, tag=DONE) for r in range(1, n)]
        print("tasks %d..%d done, mean score %.3f" % (number * 2, number * 2 + 1, sum(scores) / len(scores)), flush=True)
    else:
        task = comm.recv(source=0, tag=TASK)
        kit8.crunch(0.25)
        end, x = time.time() + (62 if (rank, number) == (2, 16) else 0), np.eye(300)
        while time.time() < end:
            x = np.tanh(x @ x)
        comm.send(0.5, 0, DONE)
