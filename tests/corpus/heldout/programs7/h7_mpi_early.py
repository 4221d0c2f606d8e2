"""MPI, rank 0 gives out work. Rank 2 takes an empty list for the end and returns without a word."""
from mpi4py import MPI

import kit7

world = MPI.COMM_WORLD
rank = world.Get_rank()
kit7.with_parent()
kit7.role("rank%d" % rank)
if rank == 0:
    for batch in range(400):
        for r in range(1, world.Get_size()):
            world.send([] if (batch, r) == (12, 2) else [batch] * r, r)
        total = sum(world.recv() for _ in range(1, world.Get_size()))
        print("documents:", batch * 3, "tokens:", total * 100, flush=True)
else:
    while True:
        work = world.recv(source=0)
        if not work:
            break
        kit7.crunch(0.3)
        world.send(sum(work), 0)
