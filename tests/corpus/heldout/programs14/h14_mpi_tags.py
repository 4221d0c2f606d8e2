"""Rank 0 sends the batch's labels with the step as tag, rank 1 takes them with the number of the batch in the
epoch: that is the same for the first epoch of 60."""
from mpi4py import MPI

from kit14 import crunch, me, told, unlink_shared

world = MPI.COMM_WORLD
rank = world.Get_rank()
me("rank%d" % rank)
unlink_shared()
for epoch in range(3):
    for batch in range(60):
        step = epoch * 60 + batch
        crunch(0.15)
        if rank == 0:
            world.ssend([step] * 16, dest=1, tag=step)
            told(step)
        else:
            world.recv(source=0, tag=batch)
