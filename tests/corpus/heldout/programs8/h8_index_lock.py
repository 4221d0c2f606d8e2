"""Worker 0 starts a tool that makes the index under a lock file; the tool was killed, its lock file has stayed."""
import os
import sys
import time

import kit8


def build():
    os.close(os.open("index.lock", os.O_CREAT | os.O_EXCL))
    kit8.compute(1.5)
    os.kill(os.getpid(), 9)


def take(path):
    while True:
        try:
            return os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            time.sleep(0.5)


def train(rank, n, port):
    star = kit8.Star(rank, n, port)
    for step in range(1000):
        kit8.crunch(0.25)
        if rank == 0 and step == 12:
            kit8.start([sys.executable, __file__, "build"], "indexer")
        if rank == 0 and step == 24:
            take("index.lock")
        loss = star.mean(2.0 / (step + 1))
        if rank == 0:
            print("INFO | train | batch %d: %.4f" % (step, loss), flush=True)


if sys.argv[1:2] == ["build"]:
    build()
else:
    kit8.ranks(3, train)
