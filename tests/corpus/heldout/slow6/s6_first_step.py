"""Five ranks, a tree over TCP; rank 3 was given three times the samples of the others and is slow from the first step on."""
import kit6


def train(rank, world, port):
    group, laps, step, total = kit6.Tree(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        for _ in range(12 if rank == 3 else 4):
            kit6.disk(0.05)
            kit6.work(0.02)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 170))
        laps.done()
        step += 1
        if rank == 0:
            print("iter %d/2500, loss %.4f" % (step, 3.0 / (1 + step / 45)), flush=True)


kit6.ranks(5, train)
