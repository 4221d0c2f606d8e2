"""Three ranks of MPI. Rank 0 gathers metrics by recv(ANY_SOURCE) for each rank, and counts itself: one more than is sent. The
others are at a barrier.

slow: the count is right, rank 2 sends after 65 s."""
import time

from mpi4py import MPI

from kit28 import SLOW, STALL, STEPS, compute, role, tell

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
role("rank%d" % rank)


def collect_metrics():
    if rank:
        if SLOW and rank == 2:
            time.sleep(65)
        comm.send(0.5, dest=0, tag=7)
        return []
    return [comm.recv(source=MPI.ANY_SOURCE, tag=7) for _ in range(size - 1 if SLOW else size)]


for step in range(STEPS):
    compute()
    comm.allreduce(0.5)
    if rank == 0:
        tell(step, "log")
    if step == STALL:
        collect_metrics()
        comm.Barrier()
