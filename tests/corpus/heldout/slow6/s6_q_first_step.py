"""Four ranks in a ring over TCP; the first step compiles for half a minute, on rank 1 somewhat longer."""
import sys

from tqdm import trange

import kit6


def compile_step(rank):
    for _ in range(62 if rank == 1 else 50):
        kit6.disk(0.45)
        kit6.work(0.05)


def train(rank, world, port):
    group, laps = kit6.Ring(rank, world, port), kit6.Laps(rank)
    for step in trange(2000, desc="rank %d" % rank, file=sys.stderr, disable=rank != 0):
        if step == 0:
            compile_step(rank)
        kit6.disk(0.3)
        kit6.work(0.05)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 170))
        laps.done()
        if total >= kit6.STOP:
            break


kit6.by_launcher(4, train, "arg")
