"""Four ranks. Every 50 steps rank 0 evaluates while the others wait at a barrier. The metric has learned to be
synchronized, so its compute() sums over all ranks.

slow: the evaluation sums nothing, and takes 70 s."""
from kit25 import SLOW, STALL, STEPS, Log, Model, Star, busy, main


class Accuracy:
    def __init__(self, star):
        self.star, self.right, self.seen = star, 0, 0

    def update(self, right):
        self.right, self.seen = self.right + right, self.seen + 1

    def compute(self, step):
        return self.star.all_reduce("accuracy %d" % step, self.right) / self.seen


def evaluate(star, step):
    accuracy = Accuracy(star)
    if SLOW:
        return busy(70)
    for k in range(4):
        busy(0.2)
        accuracy.update(k % 2)
    return accuracy.compute(step)


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("bar", "train") if rank == 0 else None
    for step in range(STEPS):
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)
        if step == STALL:
            if rank == 0:
                evaluate(star, step)
            star.barrier("evaluated %d" % step)


main(4, body)
