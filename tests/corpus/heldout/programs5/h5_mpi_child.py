"""MPI: rank 0 hands out files and takes results. The converter of rank 1 waits for a file of its own that nobody writes."""
import subprocess
import sys
import time

from mpi4py import MPI

import kit5

CONVERT = """
import sys, time, os
if int(sys.argv[1]) == 14:
    while not os.path.exists("calibration.npy"):
        time.sleep(0.5)
time.sleep(0.2)
"""


def convert(n):
    p = kit5.start([sys.executable, "-c", CONVERT, str(n)], "converter%d" % n)
    p.wait()


kit5.with_parent()
world = MPI.COMM_WORLD
kit5.role("rank%d" % world.rank)
if world.rank == 0:
    for n in range(1, 60):
        to = 1 + n % 2
        world.send(n, to)
        print("file", world.recv(source=to), flush=True)
else:
    while True:
        n = world.recv(source=0)
        convert(n)
        time.sleep(0.05)
        world.send(n, 0)
