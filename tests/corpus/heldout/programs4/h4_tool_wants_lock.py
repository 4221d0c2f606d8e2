"""Rank 1 packs its samples with a tool; both lock the same list of files."""
import fcntl
import subprocess
import sys

import kit4

TOOL = """
import fcntl, time
with open('files.lst', 'a') as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    time.sleep(0.1)
"""


def pack(rank):
    p = kit4.start([sys.executable, "-c", TOOL], "tool")
    if p.wait():
        raise subprocess.SubprocessError("pack")


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    for i in range(200):
        kit4.crunch(0.2)
        ring.reduce(2)
        if i % 6 == 5 and rank == 1:
            if i < 12:
                pack(rank)
            with open("files.lst", "a") as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                f.write("part-%d\n" % i)
                f.flush()
                if i > 12:
                    pack(rank)
        if rank == 0:
            print("step %d" % i, flush=True)


kit4.main(3, train, "fork")
