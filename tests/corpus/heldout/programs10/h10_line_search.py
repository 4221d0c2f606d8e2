"""The optimizer halves its step until the loss is smaller. On rank 1 the loss is infinite before, and no step makes it smaller than nan."""
import math

import kit10


def loss_of(rank, s, alpha):
    kit10.crunch(0.05)
    if rank == 1 and s >= 9:
        return math.nan
    return 1.0 / (2 + s) if alpha < 0.5 else 1.0


def body(rank, n, port):
    tree = kit10.Tree(rank, n, port)
    for s in range(40):
        before = 1.0 / (1 + s)
        alpha = 1.0
        while not loss_of(rank, s, alpha) < before:
            alpha /= 2
        tree.reduce(alpha)
        kit10.log(rank, s, alpha=alpha)


kit10.main(3, body)
