"""One-sided MPI: rank 1 locks rank 0's window, meets a bad gradient, and goes to the barrier without having unlocked it."""
from mpi4py import MPI
import numpy as np

import kit9

comm = MPI.COMM_WORLD
rank, n = comm.Get_rank(), comm.Get_size()
kit9.role("rank%d" % rank)
window = MPI.Win.Allocate(8 * 16, 8, comm=comm)


def push(s):
    grad = np.full(16, np.nan if (rank, s) == (1, 9) else 1.0)
    window.Lock(0, MPI.LOCK_EXCLUSIVE)
    try:
        window.Accumulate(grad, 0)
        window.Flush(0)
        if not np.isfinite(grad).all():
            raise FloatingPointError("bad gradient")
        window.Unlock(0)
    except FloatingPointError as error:
        print("rank %d: %s skipped" % (rank, error), flush=True)


for s in range(40):
    kit9.crunch(0.2 + 0.3 * (rank == 2))
    push(s)
    comm.Barrier()
    kit9.step(rank, s, 40)
