"""Rank 1 keeps an exclusive lock of rank 0's window while it waits for a message of rank 2, which wants the same lock first."""
import array

from mpi4py import MPI

import kit6

world = MPI.COMM_WORLD
rank = world.rank
kit6.with_parent()
kit6.role("rank%d" % rank)
window = MPI.Win.Create(bytearray(8) if rank == 0 else None, comm=world)
for step in range(1000):
    kit6.crunch(0.15)
    if rank == 1:
        window.Lock(0, MPI.LOCK_EXCLUSIVE)
        window.Put(array.array("d", [step]), 0)
        window.Flush(0)
        if step == 15:
            world.send(0, 2)
            world.recv(source=2)
        window.Unlock(0)
    if rank == 2:
        if step == 15:
            world.recv(source=1)
        window.Lock(0, MPI.LOCK_EXCLUSIVE)
        window.Put(array.array("d", [step]), 0)
        window.Unlock(0)
        if step == 15:
            world.send(0, 1)
    world.Barrier()
    if rank == 0:
        print("sweep", step, flush=True)
