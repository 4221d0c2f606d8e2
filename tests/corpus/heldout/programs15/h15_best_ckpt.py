"""Each of three ranks validates on its own shard, and whoever sees a new best loss saves "the best checkpoint",
by a function that begins with a barrier of all ranks. In the third validation that is rank 2 alone; the others
go on with the next step. Sums and barriers by a server of keys over HTTP."""
from kit15 import Web, crunch, main, told

LOSSES = [(2.1, 2.0, 2.2), (1.8, 1.7, 1.9), (1.9, 1.75, 1.6)]


class Checkpoint:
    def __init__(self, web):
        self.web, self.best, self.saved = web, 9.9, 0

    def save_best(self, step):
        self.web.mean("barrier/save/%d" % self.saved, 1)
        self.saved += 1
        print("rank %d saved best of step %d" % (self.web.rank, step), flush=True)


def body(rank, world, port):
    web = Web(rank, world, port)
    checkpoint = Checkpoint(web)
    for step in range(200):
        crunch(0.15)
        web.mean("grad/%d" % step, 1.0 / (step + 1))
        if rank == 0:
            told(step)
        if step % 20 == 15:
            loss = LOSSES[min(step // 20, 2)][rank]
            if loss < checkpoint.best:
                checkpoint.best = loss
                checkpoint.save_best(step)


main(3, body)
