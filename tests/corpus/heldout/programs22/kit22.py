"""Helpers of the twenty-second set: a small model with its gradient, a mesh of sockets in which every rank talks to every
other one, a board of counters in a mapped file; from the fourth set how ranks are started."""
import mmap
import os
import random
import socket
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import (crunch, dial, free_port, listen, main, receive, role, send, start,  # noqa: E402,F401
                  with_parent)

SLOW = "slow" in sys.argv
STEPS = 60 if SLOW else 500


def busy(seconds):
    """Long work of which nothing is printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.25)


class Model:
    """A line through noisy points, by gradient descent."""

    def __init__(self, seed):
        self.draw, self.weights, self.loss = random.Random(seed), [0.0, 0.0], 0.0

    def batch(self, size=32):
        xs = [self.draw.uniform(-1, 1) for _ in range(size)]
        return [(x, 3 * x + 1 + self.draw.gauss(0, 0.1)) for x in xs]

    def gradient(self, batch):
        a, b = self.weights
        crunch(0.18)
        wrong = [a * x + b - y for x, y in batch]
        self.loss = sum(w * w for w in wrong) / len(wrong)
        return Vector([sum(w * x for w, (x, _) in zip(wrong, batch)) / len(wrong), sum(wrong) / len(wrong)])

    def apply(self, gradient, rate=0.1):
        self.weights = [w - rate * g for w, g in zip(self.weights, gradient)]

    def told(self, step):
        if step % 5 == 0:
            print("step %d loss %.4f" % (step, self.loss), flush=True)


class Vector(list):
    def __add__(self, other):
        return Vector(x + y for x, y in zip(self, other))

    def __truediv__(self, n):
        return Vector(x / n for x in self)


class Mesh:
    """Collectives over a socket to every other rank, by TCP or (without a port) by unix sockets. What comes under another
    name than the one that is waited for is kept."""

    def __init__(self, rank, world, port=None):
        self.rank, self.world, self.ends, self.early = rank, world, {}, {}
        door = listen(port + 1 + rank) if port else listen_unix("mesh.%d" % rank)
        for r in range(rank):
            self.ends[r] = dial(port + 1 + r) if port else dial_unix("mesh.%d" % r)
            send(self.ends[r], rank)
        while len(self.ends) < world - 1:
            end = door.accept()[0]
            self.ends[receive(end)] = end
        door.close()

    def take(self, r, name):
        while (r, name) not in self.early:
            what, x = receive(self.ends[r])
            self.early[r, what] = x
        return self.early.pop((r, name))

    def all_gather(self, name, x):
        for r in sorted(self.ends):
            send(self.ends[r], (name, x))
        return [x if r == self.rank else self.take(r, name) for r in range(self.world)]

    def all_reduce(self, name, x):
        parts = self.all_gather(name, x)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part
        return whole / self.world

    def barrier(self, name):
        self.all_gather("barrier " + name, None)


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


class Board:
    """Counters that all ranks see, in a mapped file: one for each phase and rank."""

    def __init__(self, world, phases):
        self.world, self.phases = world, phases
        with open("board", "a+b") as f:
            f.truncate(4096)
            self.memory = mmap.mmap(f.fileno(), 4096)

    def place(self, phase, rank):
        return 8 * (self.phases.index(phase) * self.world + rank)

    def put(self, phase, rank, count):
        struct.pack_into("q", self.memory, self.place(phase, rank), count)

    def least(self, phase):
        return min(struct.unpack_from("q", self.memory, self.place(phase, r))[0] for r in range(self.world))

    def meet(self, phase, rank, count):
        self.put(phase, rank, count)
        while self.least(phase) < count:
            time.sleep(0.02)
