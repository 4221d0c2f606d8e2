"""Helpers of the twenty-third set: a tree of TCP connections and a star of unix packets, in which sums have names; a
line that is fitted; from the fourth set how ranks are started."""
import os
import pickle
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


class Line:
    """Slope of a line through noisy points."""

    def __init__(self, seed):
        self.draw, self.slope, self.loss = random.Random(seed), 0.0, 0.0

    def gradient(self, pause=0.17):
        xs = [self.draw.uniform(-1, 1) for _ in range(24)]
        crunch(pause)
        self.loss = sum((self.slope * x - 2 * x) ** 2 for x in xs) / len(xs)
        return sum((self.slope * x - 2 * x) * x for x in xs) / len(xs)

    def apply(self, gradient):
        self.slope -= 0.2 * gradient


class Sums:
    """What comes under another name than the one that is waited for is kept."""

    def take(self, end, name):
        while (end, name) not in self.early:
            what, x = self.receive(end)
            self.early[end, what] = x
        return self.early.pop((end, name))

    def all_reduce(self, name, x):
        for kid in self.kids:
            x += self.take(kid, name)
        if self.up:
            self.send(self.up, (name, x))
            x = self.take(self.up, name)
        for kid in self.kids:
            self.send(kid, (name, x))
        return x

    def mean(self, name, x):
        return self.all_reduce(name, x) / self.world

    def barrier(self, name):
        self.all_reduce("barrier " + name, 0)


class Tree(Sums):
    """Over TCP: rank r's parent is (r - 1) // 2."""

    def __init__(self, rank, world, port):
        self.rank, self.world, self.early, self.up = rank, world, {}, None
        door = listen(port + 1 + rank)
        self.kids = []
        if rank:
            self.up = dial(port + 1 + (rank - 1) // 2)
            send(self.up, rank)
        wanted = [k for k in (2 * rank + 1, 2 * rank + 2) if k < world]
        found = {}
        while len(found) < len(wanted):
            end = door.accept()[0]
            found[receive(end)] = end
        self.kids = [found[k] for k in sorted(found)]
        door.close()

    def send(self, end, x):
        send(end, x)

    def receive(self, end):
        return receive(end)


class Star(Sums):
    """Over unix sockets that keep messages whole: all talk to rank 0."""

    def __init__(self, rank, world, path="star"):
        self.rank, self.world, self.early, self.up, self.kids = rank, world, {}, None, []
        if rank:
            self.up = dial_packets(path)
            self.send(self.up, rank)
            return
        door, found = listen_packets(path), {}
        while len(found) < world - 1:
            end = door.accept()[0]
            found[self.receive(end)] = end
        self.kids = [found[k] for k in sorted(found)]
        door.close()

    def send(self, end, x):
        end.send(pickle.dumps(x))

    def receive(self, end):
        got = end.recv(1 << 16)
        if not got:
            raise EOFError("connection closed")
        return pickle.loads(got)


def listen_packets(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(path + ".new")
    s.listen(16)
    os.rename(path + ".new", path)
    return s


def dial_packets(path):
    while not os.path.exists(path):
        time.sleep(0.05)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    return s
