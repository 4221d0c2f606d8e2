"""Rank 0 alone evaluates every twenty steps, and the evaluation sums over the ranks; the others are in the next gradient's sum. Bars, no lines."""
from tqdm import tqdm

import kit6


def train(rank, world, port):
    total = kit6.Reducer()
    for step in tqdm(range(1000), disable=rank != 0, ncols=70):
        kit6.crunch(0.15)
        total.sum("grad/%d" % step)
        if rank == 0 and step == 20:
            kit6.crunch(1)
            total.sum("accuracy/%d" % step)


kit6.reducer(4)
kit6.ranks(4, train)
