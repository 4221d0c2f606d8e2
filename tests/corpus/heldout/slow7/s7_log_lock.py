"""Three ranks over unix sockets write their metrics into one file under a lock; its folder has become slow, and they have to wait for each other."""
import fcntl

import kit7


def note(rank, step):
    with open("metrics.csv", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write("%d,%d\n" % (rank, step))
        f.flush()
        kit7.disk(0.45 if kit7.slow() else 0.04)


def train(rank, world, port):
    def before(step):
        kit7.work(0.08)
        kit7.disk(0.25)
        note(rank, step)
    kit7.loop(rank, kit7.Mesh(rank, world), before, lambda s: "Epoch: [0][%4d/2000]  Loss %.4e" % (s, 3 / (1 + s / 40)))


kit7.ranks(3, train)
