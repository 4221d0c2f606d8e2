"""kitlife.py for the programs here, with other forms of steps, and the hub of kit4.py for ranks that vigil starts."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "programs4")]
from kitlife import *   # noqa: E402,F401,F403
from kitlife import RANK, role, time  # noqa: E402
from kit4 import Hub  # noqa: E402,F401


def batches(n, begin=0, pause=0.15):
    for k in range(begin, begin + n):
        print({"loss": round(2.4 / (1 + k / 9), 4), "grad_norm": 1.1, "epoch": round(k / 40, 2)}, flush=True)
        time.sleep(pause)


class Group:
    """Ranks around rank 0."""

    def __init__(self, world):
        role("rank%d" % RANK)
        self.link = Hub(RANK, world, int(os.environ["MASTER_PORT"]))

    def steps(self, n, begin=0):
        for s in range(begin, begin + n):
            time.sleep(0.15)
            self.link.reduce(1.0)
            if RANK == 0:
                print("global step %d | lm loss %.4f" % (s, 2 / (1 + s)), flush=True)


__all__ = [n for n in globals() if not n.startswith("_")]
