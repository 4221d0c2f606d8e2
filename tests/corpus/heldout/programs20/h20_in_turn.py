"""A launcher of one's own starts two ranks and passes on what they print: all lines of rank 0 first, those of rank 1
then. Rank 1 warns of every sample from step 30 on, and its pipe is full; rank 0 waits for it in a sum."""
import os
import subprocess
import sys

from kit20 import STEPS, Star, crunch, free_port, role, start, told


def train_step(star, rank, step):
    crunch(0.2)
    if rank == 1 and step >= 30:
        for k in range(200):
            print("warning: sample %d has no mask, %s" % (k, "it is taken for empty " * 3), flush=True)
    star.mean("grad%d" % step, 0.4)


def train(rank, world, port):
    star = Star(rank, world, port)
    for step in range(STEPS):
        train_step(star, rank, step)
        if rank == 0:
            told(step)


def launch():
    role("launcher")
    port, ranks = free_port(), []
    for r in range(2):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="2", MASTER_PORT=str(port))
        ranks.append(start([sys.executable, *sys.argv], "rank%d" % r, env=env, stdout=subprocess.PIPE, text=True))
    for r, process in enumerate(ranks):
        for line in process.stdout:
            print("[%d] %s" % (r, line), end="", flush=True)
    for process in ranks:
        process.wait()


if "RANK" in os.environ:
    train(*(int(os.environ[k]) for k in ("RANK", "WORLD_SIZE", "MASTER_PORT")))
else:
    launch()
