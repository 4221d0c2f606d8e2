"""Rank 0 collects a result of each other rank; rank 2 has an empty shard in round 12, sends nothing and goes to the barrier."""
from mpi4py import MPI

import kit6

world = MPI.COMM_WORLD
rank, n = world.rank, world.size
kit6.with_parent()
kit6.role("rank%d" % rank)
for turn in range(1000):
    shard = [] if (rank, turn) == (2, 12) else [turn]
    kit6.crunch(0.2)
    if rank == 0:
        got = [world.recv(source=MPI.ANY_SOURCE, tag=9) for _ in range(n - 1)]
        print("round", turn, len(got), flush=True)
    elif shard:
        world.send(shard, 0, tag=9)
    world.Barrier()
