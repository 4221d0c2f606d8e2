"""Three ranks over unix sockets. Rank 0 writes its state with fsync in each step, to a disk that has become slow."""
import os

import kit7


def save(step):
    with open("state.tmp", "wb") as f:
        f.write(bytes(20000))
        f.flush()
        os.fsync(f.fileno())
        kit7.disk(0.6 if kit7.slow() else 0.03)
    os.rename("state.tmp", "state.pt")


def train(rank, world, port):
    def before(step):
        kit7.work(0.06)
        kit7.disk(0.25)
        if rank == 0:
            save(step)
    kit7.loop(rank, kit7.Mesh(rank, world), before, lambda s: "iter %d: loss %.4f" % (s, 3 / (1 + s / 40)))


kit7.ranks(3, train, "slurm")
