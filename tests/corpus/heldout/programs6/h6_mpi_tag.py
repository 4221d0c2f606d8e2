"""Rank 1 sends its halo under the tag of the wrong step after a restart of its counter; rank 0 waits for the right one, the others in a barrier."""
from mpi4py import MPI

import kit6

world = MPI.COMM_WORLD
rank, step_of = world.rank, {1: 0}
kit6.with_parent()
kit6.role("rank%d" % rank)
for step in range(1000):
    kit6.crunch(0.15)
    if rank == 1:
        world.send(step, 0, tag=step % 15 if step >= 20 else step)
    if rank == 0:
        world.recv(source=1, tag=step)
        print("time step", step, flush=True)
    world.Barrier()
