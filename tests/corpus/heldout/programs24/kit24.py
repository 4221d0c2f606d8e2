"""Helpers of the twenty-fourth set: ranks of which each has a connection to each other one, over unix sockets or TCP, in
which sums have names; a parabola that is descended; from the fourth set how ranks are started."""
import os
import random
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import (compute, crunch, dial, free_port, listen, main, receive, role, send, start,  # noqa: E402,F401
                  with_parent)

SLOW = "slow" in sys.argv
STEPS = 55 if SLOW else 500


def busy(seconds):
    """Long work of which nothing is printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.2)


def told(step, loss):
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, loss), flush=True)


class Descent:
    """The lowest point of a parabola, from noisy slopes."""

    def __init__(self, seed):
        self.draw, self.at, self.loss = random.Random(seed), 4.0, 0.0

    def slope(self, pause=0.17):
        crunch(pause)
        self.loss = (self.at - 1) ** 2
        return 2 * (self.at - 1) + self.draw.gauss(0, 0.1)

    def follow(self, slope):
        self.at -= 0.05 * slope


class Mesh:
    """What comes under another name than the one that is waited for is kept."""

    def __init__(self, rank, world, tcp=False):
        self.rank, self.world, self.early, self.peers = rank, world, {}, {}
        self.door = listen_tcp("mesh-%d" % rank) if tcp else listen_unix("mesh-%d" % rank)
        for other in range(rank):
            self.peers[other] = dial_tcp("mesh-%d" % other) if tcp else dial_unix("mesh-%d" % other)
            send(self.peers[other], rank)
        while len(self.peers) < world - 1:
            end = self.door.accept()[0]
            self.peers[receive(end)] = end
        self.door.close()

    def take(self, other, name):
        while (other, name) not in self.early:
            what, x = receive(self.peers[other])
            self.early[other, what] = x
        return self.early.pop((other, name))

    def all_reduce(self, name, x, members=None):
        others = [r for r in sorted(self.peers) if members is None or r in members]
        for other in others:
            send(self.peers[other], (name, x))
        return x + sum(self.take(other, name) for other in others)

    def mean(self, name, x, members=None):
        return self.all_reduce(name, x, members) / len(members or range(self.world))

    def barrier(self, name):
        self.all_reduce("barrier " + name, 0)


def listen_tcp(path):
    """The port's number is told in a file."""
    s = listen(0)
    with open(path + ".new", "w") as f:
        f.write("%d" % s.getsockname()[1])
    os.rename(path + ".new", path)
    return s


def dial_tcp(path):
    while not os.path.exists(path):
        time.sleep(0.05)
    with open(path) as f:
        return dial(int(f.read()))


def listen_unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path + ".new")
    s.listen(16)
    os.rename(path + ".new", path)
    return s


def dial_unix(path):
    while not os.path.exists(path):
        time.sleep(0.05)
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s
