"""Four ranks, sums at rank 0 over TCP; rank 2 comes to a shard whose samples cost more arithmetic."""
import kit6


def train(rank, world, port):
    group, laps, step, total = kit6.Hub(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.35)
        kit6.work(0.45 if rank == 2 and kit6.slow() else 0.05)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            print("step %d/4000 loss %.4f" % (step, 3.0 / (1 + step / 50)), flush=True)


kit6.by_launcher(4, train)
