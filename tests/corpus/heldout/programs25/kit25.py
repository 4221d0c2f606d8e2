"""Helpers of the twenty-fifth set: loops of training that tell their steps as people's do, ranks around a hub of
multiprocessing.connection or in a ring over TCP; from the fourth set how ranks are started."""
import json
import logging
import os
import random
import sys
import time
from multiprocessing.connection import Client, Listener

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import (crunch, dial, free_port, listen, main, receive, role, send, start,  # noqa: E402,F401
                  with_parent)

SLOW = "slow" in sys.argv
STALL = 100
STEPS = 120 if SLOW else 3000
OWN = [sys.executable, os.path.abspath(sys.argv[0])]


def busy(seconds):
    """Long work of which nothing is printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.2)


class Log:
    def __init__(self, style="plain", name="trainer"):
        self.style, self.begin = style, time.time()
        if style == "logger":
            logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
            self.log = logging.getLogger(name)
        if style == "bar":
            from tqdm import tqdm
            self.bar = tqdm(total=STEPS, desc=name, mininterval=1)

    def __call__(self, step, loss):
        if self.style == "bar":
            self.bar.set_postfix(loss="%.4f" % loss, refresh=False)
            self.bar.update()
        elif step % 5:
            return
        elif self.style == "logger":
            self.log.info("Epoch [%d][%d/25] lr: 1.0e-03 loss: %.4f", step // 25, step % 25, loss)
        elif self.style == "json":
            print(json.dumps({"step": step, "loss": round(loss, 4), "elapsed": round(time.time() - self.begin, 1)}), flush=True)
        else:
            print("step %d loss %.4f" % (step, loss), flush=True)


class Model:
    """A parabola, and its noisy slopes."""

    def __init__(self, seed=0):
        self.draw, self.at = random.Random(seed), 4.0

    @property
    def loss(self):
        return (self.at - 1) ** 2

    def backward(self, seconds=0.2):
        crunch(seconds)
        return 2 * (self.at - 1) + self.draw.gauss(0, 0.1)

    def step(self, slope):
        self.at -= 0.02 * slope


class Names:
    """What comes under another name than the wanted one is kept."""

    def __init__(self):
        self.early = {}

    def take(self, end, name):
        while (end, name) not in self.early:
            what, x = self.next(end)
            self.early[end, what] = x
        return self.early.pop((end, name))


def reach(path):
    for _ in range(600):
        try:
            return Client(path, "AF_UNIX")
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.05)
    raise SystemExit("nobody at %s" % path)


class Star(Names):
    """Rank 0 gathers, adds up and sends the sum back."""

    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world
        path = os.path.abspath("star")
        if rank == 0:
            door = self.door = Listener(path, "AF_UNIX", backlog=world)
            ends = {}
            for _ in range(world - 1):
                end = door.accept()
                ends[end.recv()] = end
            self.ends = [ends[r] for r in sorted(ends)]
        else:
            self.ends = [reach(path)]
            self.ends[0].send(rank)

    def next(self, end):
        return end.recv()

    def gather(self, name, x):
        """The values of all ranks at rank 0, the sum of them elsewhere."""
        if self.rank:
            self.ends[0].send((name, x))
            return self.take(self.ends[0], name)
        return [x] + [self.take(end, name) for end in self.ends]

    def all_reduce(self, name, x):
        got = self.gather(name, x)
        if self.rank == 0:
            got = sum(got)
            for end in self.ends:
                end.send((name, got))
        return got

    def mean(self, name, x):
        return self.all_reduce(name, x) / self.world

    def barrier(self, name):
        self.all_reduce("barrier " + name, 0)


class Ring(Names):
    """Each sends to its right neighbour and hears its left one."""

    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world
        door = listen(0)
        with open("ring-%d.new" % rank, "w") as f:
            f.write("%d" % door.getsockname()[1])
        os.rename("ring-%d.new" % rank, "ring-%d" % rank)
        right = "ring-%d" % ((rank + 1) % world)
        while not os.path.exists(right):
            time.sleep(0.05)
        with open(right) as f:
            self.right = dial(int(f.read()))
        self.left = door.accept()[0]
        door.close()

    def next(self, end):
        return receive(end)

    def all_reduce(self, name, x):
        total = part = x
        for hop in range(self.world - 1):
            send(self.right, ("%s/%d" % (name, hop), part))
            part = self.take(self.left, "%s/%d" % (name, hop))
            total += part
        return total

    def mean(self, name, x):
        return self.all_reduce(name, x) / self.world

    def barrier(self, name):
        self.all_reduce("barrier " + name, 0)
