"""Worker 0 wants the lock file of a tool that builds the index; the tool needs 64 s."""
import os
import sys
import time

import kit8


def build():
    os.close(os.open("index.lock", os.O_CREAT | os.O_EXCL))
    kit8.compute(64)
    os.unlink("index.lock")


def take(path):
    while True:
        try:
            return os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            time.sleep(0.5)


def train(rank, n, port):
    star = kit8.Star(rank, n, port)
    for step in range(30):
        kit8.crunch(0.25)
        if rank == 0 and step == 12:
            kit8.start([sys.executable, __file__, "build"], "indexer")
        if rank == 0 and step == 20:
            take("index.lock")
        loss = star.mean(2.0 / (step + 1))
        if rank == 0:
            print("INFO | train | batch %d: %.4f" % (step, loss), flush=True)


if sys.argv[1:2] == ["build"]:
    build()
else:
    kit8.ranks(3, train)
