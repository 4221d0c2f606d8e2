"""The helpers of programs3/deaths, the sums of ranks of programs4, and lines "step N"."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "..", "programs3", "deaths"), os.path.join(HERE, "..", "..", "programs4"),
             os.path.join(HERE, "..", "..")]
from kit4 import Hub  # noqa: E402
from kitlife import *  # noqa: E402,F401,F403
from kitlife import RANK, time  # noqa: E402


def told(n, begin=0, pause=0.1):
    for k in range(begin, begin + n):
        if k % 5 == 0:
            print("step %d loss %.4f" % (k, 2.5 / (1 + 0.1 * k)), flush=True)
        time.sleep(pause)


class Ranks:
    """A sum over the ranks that a launcher has started, a step at a time."""

    def __init__(self):
        self.hub = Hub(RANK, int(os.environ["WORLD_SIZE"]), int(os.environ["MASTER_PORT"]))

    def step(self, k):
        time.sleep(0.12)
        loss = self.hub.reduce(1.0 / (k + 1))
        if RANK == 0 and k % 5 == 0:
            print("step %d loss %.4f" % (k, loss), flush=True)
        return loss


__all__ = [n for n in globals() if not n.startswith("_")]
