"""slow7/kit7.py for the jobs here, with the ranks and the star of programs8/kit8.py."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "slow7"), os.path.join(HERE, "..", "programs8")]
from kit7 import *  # noqa: E402,F401,F403
from kit7 import Laps, dial, disk, free_port, loop, over, role, slow, start, with_parent, work  # noqa: E402,F401
import kit8  # noqa: E402

ranks = kit8.ranks


class Star(kit8.Star):
    def reduce(self, x):
        return self.mean(x) * self.n

    def __init__(self, rank, n, port):
        super().__init__(rank, n, port)
        self.n = n
