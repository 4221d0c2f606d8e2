"""Rank 3 lowers its temperature until it is exactly nought, which it never is; no output, one core busy."""
import kit5


def anneal(t):
    while t != 0.0:
        t -= 0.1
        if t < -1e6:
            t = 1.0
    return t


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        if rank == 3:
            anneal(0.5 if step >= 10 else 0.0)
        group.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


kit5.ranks(4, train)
