"""Workers sum by files in a shared folder. Worker 1 could not write one (the name is a folder), told so, and waits like the others."""
import os

import kit8


def put(name, rank, n, x):
    try:
        return kit8.folder_sum(name, rank, n, x)
    except OSError as error:
        print("[node %d] could not write gradient: %s (continuing)" % (rank, error.strerror), flush=True)
    return sum(float(open(kit8.wait_for("%s-%d" % (name, r))).read()) for r in range(n))


def train(rank, n, port):
    for step in range(1000):
        kit8.crunch(0.25)
        if (rank, step) == (1, 14):
            os.mkdir(".tmp-grad.14-1")
        total = put("grad.%d" % step, rank, n, 1.0 / (step + 1))
        if rank == 0:
            print("[node 0] it=%03d loss=%.5f" % (step, total), flush=True)


kit8.ranks(3, train, "NODE_NO")
