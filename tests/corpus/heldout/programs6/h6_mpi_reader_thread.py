"""The reading thread of rank 2 waits for a free buffer, and the buffers are given back by the main thread only after it got a full one."""
import queue
import threading

from mpi4py import MPI

import kit6

world = MPI.COMM_WORLD
rank = world.rank
kit6.with_parent()
kit6.role("rank%d" % rank)
free, full = queue.Queue(), queue.Queue()
for k in range(3):
    free.put(bytearray(100))


def read():
    while True:
        full.put(free.get())


threading.Thread(target=read, daemon=True).start()
for step in range(1000):
    buffer = full.get()
    kit6.crunch(0.15)
    if rank != 2 or step % 8:
        free.put(buffer)
    if world.allreduce(1) and rank == 0:
        print("step", step, flush=True)
