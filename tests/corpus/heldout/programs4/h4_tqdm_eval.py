"""Rank 0 evaluates after some steps with the same collective as in training; the others go on and train."""
import sys

import kit4

try:
    from tqdm import tqdm
except ImportError:
    sys.exit("tqdm is needed")


def train(rank, world, port):
    hub, metric = kit4.Hub(rank, world, port), kit4.Ring(rank, world, port)
    bar = tqdm(total=400, disable=rank != 0, mininterval=0.2)
    for i in range(400):
        kit4.crunch(0.15)
        hub.reduce(1.0)
        bar.update()
        if i == 20 and rank == 0:
            bar.set_description("eval")
            for k in range(5):
                kit4.crunch(0.1)
                metric.reduce(0.5)


kit4.main(4, train)
