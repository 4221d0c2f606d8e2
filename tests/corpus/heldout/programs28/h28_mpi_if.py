"""Three ranks of MPI. `if loss < best: best = comm.allreduce(...)`: whether rank 1's loss is better than its best is its own
matter. It goes on to the gradient, the others are in the best.

slow: no such if; rank 1 reads a table for 66 s."""
import sys

from mpi4py import MPI

from kit28 import SLOW, STALL, STEPS, busy, compute, role, tell

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
role("rank%d" % rank)
for step in range(STEPS):
    compute()
    total = comm.allreduce(0.5)
    if rank == 0:
        tell(step, "plain")
    if step == STALL and SLOW and rank == 1:
        busy(66)
    if step == STALL and not SLOW and rank != 1:
        best = comm.allreduce(0.4, op=MPI.MIN)
        comm.Barrier()
sys.exit(0)
