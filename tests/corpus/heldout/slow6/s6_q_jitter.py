"""Four ranks, sums at rank 0 over TCP; reads and batches take now more and now less, on any rank."""
import random

import kit6


def train(rank, world, port):
    random.seed(rank)
    group, laps, step, total = kit6.Hub(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(min(1.2, random.lognormvariate(-1.2, 0.4)))
        kit6.work(min(0.2, random.lognormvariate(-3, 0.4)))
        laps.mine()
        total = group.reduce(kit6.vote(rank, 180))
        laps.done()
        step += 1
        if rank == 0:
            print("step %d/4000 loss %.4f" % (step, 3.0 / (1 + step / 50)), flush=True)


kit6.by_launcher(4, train)
