"""Three replicas of a sampler swap their states by MPI: in even rounds 0 and 1, in odd ones 1 and 2. The energy of
rank 1 is not a number in round 40: it turns the swap down, without a word to rank 0, and goes on. Rank 0 waits for the
message of that round, rank 1 two rounds later for one of rank 0, rank 2 for rank 1.

slow: rank 1 computes for 46 s in that round."""
import math
import time

from mpi4py import MPI
from kit18 import SLOW, STEPS, busy, crunch, me, told, unlink_shared

comm = MPI.COMM_WORLD
rank = comm.Get_rank()


def partner_in(turn):
    return {0: 1, 1: 0}.get(rank) if turn % 2 == 0 else {1: 2, 2: 1}.get(rank)


def energy_of(turn):
    crunch(0.2)
    if (rank, turn) == (1, 40):
        if not SLOW:
            return math.nan
        busy(46)
    return 1.0 / (turn + 1)


def swap(turn, partner, energy):
    comm.send(energy, dest=partner, tag=turn)
    while not comm.Iprobe(source=partner, tag=turn):
        time.sleep(0.01)
    return comm.recv(source=partner, tag=turn)


me("rank%d" % rank)
comm.Barrier()
if rank == 0:
    unlink_shared()
for turn in range(STEPS):
    energy, partner = energy_of(turn), partner_in(turn)
    if partner is not None and not math.isnan(energy):
        swap(turn, partner, energy)
    if rank == 0:
        told(turn)
