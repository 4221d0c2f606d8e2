"""MPI: rank 1 computes for a minute, rank 0 looks for results by probe and sleeps between, rank 2 has no work."""
import time

from mpi4py import MPI

import kit5

kit5.with_parent()
world = MPI.COMM_WORLD
kit5.role("rank%d" % world.rank)
if world.rank == 0:
    for n, seconds in enumerate((0.3, 0.3, 62, 0.3)):
        world.send(seconds, 1)
        while not world.iprobe(source=1):
            time.sleep(0.1)
        print("task", n, world.recv(source=1), flush=True)
    for r in (1, 2):
        world.send(None, r)
else:
    while True:
        while not world.iprobe(source=0):
            time.sleep(0.1)
        seconds = world.recv(source=0)
        if seconds is None:
            break
        kit5.compute(seconds)
        world.send("done", 0)
