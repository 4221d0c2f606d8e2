"""Three ranks, a tree over TCP; the length of the sequences grows by the plan from 512 to 1024 and goes back, twice."""
import kit6


def train(rank, world, port):
    group, laps, step, total = kit6.Tree(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        length = 512 + 64 * (8 - abs(step // 12 % 16 - 8))
        kit6.disk(0.35 * length / 512)
        kit6.work(0.1 * length / 512)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 200))
        laps.done()
        step += 1
        if rank == 0:
            print("step %d | seq %d | loss %.4f" % (step, length, 3.4 / (1 + step / 90)), flush=True)


kit6.ranks(3, train)
