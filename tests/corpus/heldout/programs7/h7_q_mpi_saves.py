"""MPI. Rank 1 writes its part of a checkpoint at 6 KB a second for 63 s, the others are in the barrier after it."""
import time

from mpi4py import MPI

import kit7

world = MPI.COMM_WORLD
rank = world.Get_rank()
kit7.with_parent()
kit7.role("rank%d" % rank)
for step in range(24):
    kit7.crunch(0.2)
    if step == 12 and rank == 1:
        with open("part-1.bin", "wb", buffering=0) as f:
            for _ in range(63):
                f.write(bytes(6000))
                time.sleep(1)
    if step == 12:
        world.Barrier()
    total = world.allreduce(1.0 / (step + 1))
    if rank == 0:
        print("[Epoch 0][%4d/24] loss: %.4f" % (step, total), flush=True)
