"""MPI. Rank 3's loss is not finite: it goes to the group of those who reload, where nobody else comes."""
from mpi4py import MPI

import kit7

world = MPI.COMM_WORLD
rank, reload_group = world.Get_rank(), world.Dup()
kit7.with_parent()
kit7.role("rank%d" % rank)
for step in range(500):
    kit7.crunch(0.2)
    if rank == 3 and step == 20:
        print("rank 3: loss inf, reloading", flush=True)
        reload_group.Barrier()
    total = world.allreduce(1.0 / (step + 1))
    if rank == 0:
        print("[Epoch 0][%4d/500] loss: %.4f" % (step, total), flush=True)
