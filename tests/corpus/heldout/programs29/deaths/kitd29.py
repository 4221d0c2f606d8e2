"""Helpers of the twenty-ninth set's deaths: steps that are told, ranks in a ring, and the launcher of kitlife."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]
from kit29 import Ring, role  # noqa: E402,F401

RANK, WORLD = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def steps(n, begin=0, pause=0.08):
    for k in range(begin, begin + n):
        time.sleep(pause)
        if k % 5 == 0:
            print("[%d/%d] loss=%.4f" % (k, 1000, 3.0 / (1 + 0.05 * k)), flush=True)


def ranks():
    role("rank%d" % RANK)
    folder = "ring-" + os.environ["MASTER_PORT"]
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    return Ring(RANK, WORLD)


def step(ring, k):
    time.sleep(0.1)
    loss = ring.mean("loss %d" % k, 1.0 / (k + 1))
    if RANK == 0 and k % 5 == 0:
        print("step %d loss %.4f" % (k, loss), flush=True)
    return loss
