"""Helpers of the slow jobs, over those of the fifth set: a clock of the job, work that costs processor time, laps for check6.py.

slow() is true from GOOD seconds on, over() after LENGTH; CORPUS_SCALE (a number) shortens both for a check."""
import os
import sys
import time

os.environ.setdefault("S6_BEGIN", str(time.time()))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs5"))
from kit5 import Butterfly, Mesh, dial, free_port, listen, ranks, read, receive, role, send, start, with_parent  # noqa: E402,F401
from kit4 import Hub, Ring, Tree  # noqa: E402,F401
from kit4 import main as by_launcher  # noqa: E402,F401
import kit4  # noqa: E402

kit4.free_port = free_port  # its own is one that the kernel gives to clients, and the ports after it may be taken

SCALE = float(os.environ.get("CORPUS_SCALE", "1"))
GOOD, LENGTH, STOP = 72, 210, 1000


def clock():
    return time.time() - float(os.environ["S6_BEGIN"])


def slow(after=GOOD):
    return clock() > after * SCALE


def over(length=LENGTH):
    return clock() > length * SCALE


def vote(rank, length=LENGTH):
    """What a rank adds to the sum of a step; the sum reaches STOP when rank 0 wants to end."""
    return STOP if rank == 0 and over(length) else 1


def work(seconds):
    """So much time of a processor, however long it takes to get it."""
    end, x = time.thread_time() + seconds, 1.0
    while time.thread_time() < end:
        for k in range(300):
            x = x * 0.999 + k
    return x


def disk(seconds):
    """A read that takes so long."""
    time.sleep(seconds)


class Laps:
    """A line a step for check6.py: rank, step, when it began, its own part and the whole, and of its own part what it waited for a processor
    (its first thread). In seconds; nothing without CORPUS_LAPS."""

    def __init__(self, rank):
        path = os.environ.get("CORPUS_LAPS")
        self.out = open("%s.%s" % (path, rank), "a", buffering=1) if path else None
        self.rank, self.step, self.late = rank, 0, 0
        self.begin = self.own = time.monotonic()
        self.delay = self.delayed()

    def delayed(self):
        if not self.out:
            return 0
        with open("/proc/thread-self/schedstat") as f:
            return int(f.read().split()[1]) / 1e9

    def mine(self):
        self.own, self.late = time.monotonic(), self.delayed() - self.delay

    def done(self):
        now = time.monotonic()
        if self.out:
            row = (self.rank, self.step, clock() - (now - self.begin), self.own - self.begin, now - self.begin, self.late)
            self.out.write("%d %d %.3f %.4f %.4f %.4f\n" % row)
        self.begin, self.step, self.delay = time.monotonic(), self.step + 1, self.delayed()
