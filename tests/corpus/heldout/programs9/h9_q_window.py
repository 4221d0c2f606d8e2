"""One-sided MPI: rank 1 holds rank 0's window for 60 s, while it merges."""
import time

from mpi4py import MPI
import numpy as np

import kit9

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
kit9.role("rank%d" % rank)
window = MPI.Win.Allocate(8 * 16, 8, comm=comm)
for s in range(24):
    kit9.crunch(0.2)
    window.Lock(0, MPI.LOCK_EXCLUSIVE)
    window.Accumulate(np.ones(16), 0)
    window.Flush(0)
    if (rank, s) == (1, 9):
        time.sleep(60)
    window.Unlock(0)
    comm.Barrier()
    kit9.step(rank, s, 24)
window.Free()
