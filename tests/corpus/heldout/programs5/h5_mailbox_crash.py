"""Ranks exchange sums by files in a shared folder. Rank 2 has crashed; its traceback is in its log, and the loop in the shell waits for all."""
import os
import sys
import time

import kit5


def reduce(rank, world, step, x):
    with open("mail/tmp.%d" % rank, "w") as f:
        f.write(str(x))
    os.rename("mail/tmp.%d" % rank, "mail/%d.%d" % (step, rank))
    total = 0
    for r in range(world):
        while not os.path.exists("mail/%d.%d" % (step, r)):
            time.sleep(0.1)
        total += float(open("mail/%d.%d" % (step, r)).read())
    return total


def train(rank, world, port):
    os.makedirs("mail", exist_ok=True)
    sys.stderr = open("rank%d.log" % rank, "w")
    losses = [1.0] * 13 if rank == 2 else [1.0] * 1000
    for step in range(1000):
        kit5.crunch(0.2)
        total = reduce(rank, world, step, losses[step])
        if rank == 0:
            print("step", step, total, flush=True)


kit5.ranks(4, train)
