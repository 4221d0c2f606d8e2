"""Three ranks begin a second stage, whose data rank 0 tokenizes into a cache: who finds no cache takes part in a sum
that tells that it is there. Rank 2 comes later, as it has more to log, and finds the cache that rank 0 has just made: it
goes on to its next step without that sum, for which the others wait.

slow: rank 0 tokenizes for 48 s, and rank 2 comes in time."""
import os

from kit18 import SLOW, STEPS, Desk, busy, crunch, main, told


def tokenize(path):
    if SLOW:
        busy(48)
    crunch(0.5)
    with open(path, "w") as f:
        f.write("tokens\n" * 1000)


def prepare(desk, path):
    if os.path.exists(path):
        return
    if desk.rank == 0:
        tokenize(path)
    desk.mean("cache is there", 0.0)


def log_samples(rank):
    crunch(2.0 if rank == 2 and not SLOW else 0.05)


def train_step(desk, step):
    crunch(0.2)
    desk.mean("grad%d" % step, 0.1)


def body(rank, world, port):
    desk = Desk(rank, world, port)
    for step in range(STEPS):
        if step == 40:
            log_samples(rank)
            prepare(desk, "stage2.cache")
        train_step(desk, step)
        if rank == 0:
            told(step)


main(3, body, "arg")
