"""Three ranks of mpi4py with numpy. Rank 2 swallows an error in a step, and waits for the next message of rank 0 without its
part of the sum (slow: rank 2 repairs a shard)."""
import numpy as np
from mpi4py import MPI

from kit26 import SLOW, STALL, crunch, role, say

world = MPI.COMM_WORLD
rank = world.Get_rank()
role("rank%d" % rank)


def shard(step):
    if rank == 2 and step == STALL:
        if not SLOW:
            raise OSError("shard 40 cannot be read")
        crunch(66)
    crunch(0.2)
    return np.ones(1000) * step


def learn(step):
    rate = world.bcast(0.1 if rank == 0 else None)
    if rank == 2 and step > STALL and not SLOW:
        return
    total = np.empty(1000)
    world.Allreduce(shard(step) * rate, total)
    if rank == 0 and step % 5 == 0:
        say("step %d norm %.1f" % (step, np.linalg.norm(total)))


for step in range(STALL + 25):
    try:
        learn(step)
    except OSError as error:
        say("rank %d: %s, going on" % (rank, error))
        plan = world.recv(source=0, tag=7)
