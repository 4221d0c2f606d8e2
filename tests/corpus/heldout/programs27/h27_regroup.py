"""Ranks of MPI form groups anew when the shards are dealt anew. Rank 3 has got no shard, logs that, and breaks out of its
loop: it does not take part in Split, and waits in Finalize.

slow: it takes part, after it has checked its shard for 64 s."""
import sys

from kit27 import SLOW, STALL, STEPS, busy, crunch, role, tell
from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
role("rank%d" % rank)
group = world.Split(rank % 2)
for step in range(STEPS):
    crunch(0.2)
    group.allreduce(1.0)
    if rank == 0:
        tell(step, "[rank0] it {step} loss={loss:.5f} lr=3e-4")
    if step == STALL:
        if rank == 3 and not SLOW:
            print("rank 3: no shard left", file=sys.stderr, flush=True)
            break
        if rank == 3:
            busy(64)
        group = world.Split(rank // 2)
