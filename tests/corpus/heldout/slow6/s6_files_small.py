"""Three ranks that leave their gradients as files and look for those of the others; rank 2's samples are now thousands of small files."""
import os
import time

import kit6


class Folder:
    """Sums by files of a common folder."""

    def __init__(self, rank, world):
        self.rank, self.world, self.step = rank, world, 0
        os.makedirs("grads", exist_ok=True)

    def reduce(self, x):
        self.step += 1
        own = "grads/%d.%d" % (self.step, self.rank)
        with open(own + ".tmp", "w") as f:
            f.write(str(x))
        os.rename(own + ".tmp", own)
        old = "grads/%d.%d" % (self.step - 2, self.rank)
        if os.path.exists(old):
            os.unlink(old)
        return sum(self.fetch("grads/%d.%d" % (self.step, r)) for r in range(self.world))

    @staticmethod
    def fetch(path):
        while not os.path.exists(path):
            time.sleep(0.004)
        with open(path) as f:
            return int(f.read())


def make_samples():
    os.makedirs("samples", exist_ok=True)
    for k in range(400):
        with open("samples/%04d.txt" % k, "w") as f:
            f.write("sample %d\n" % k * 20)


def read_samples(n):
    """As from a share over the network: each open costs a way there and back."""
    size = 0
    for k in range(n):
        kit6.disk(0.0015)
        with open("samples/%04d.txt" % (k % 400)) as f:
            size += len(f.read())
    return size


def train(rank, world, port):
    group, laps, step, total = Folder(rank, world), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        read_samples(440 if rank == 2 and kit6.slow() else 130)
        kit6.work(0.05)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            print("epoch 0 | batch %4d/3000 | loss %.4f" % (step, 2.8 / (1 + step / 60)), flush=True)


if "RANK" not in os.environ:
    make_samples()
kit6.by_launcher(3, train, "env")
