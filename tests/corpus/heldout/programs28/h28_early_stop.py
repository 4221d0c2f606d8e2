"""Three ranks in a ring. Each has an early stopping on its own loss of validation; rank 2's says stop, it leaves its loop and
gathers the results of the test, while the others want its gradient.

slow: rank 2 finds its best checkpoint and evaluates with it for 66 s, then goes on."""
from kit28 import SLOW, STALL, STEPS, Ring, busy, compute, main, tell


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.bad, self.best = patience, 0, 9e9

    def __call__(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        return self.bad > self.patience


def test(ring):
    return ring.all_reduce("test accuracy", 0.9)


def body(rank, world, port):
    ring, stop = Ring(rank, world), EarlyStopping(2)
    for step in range(STEPS):
        compute()
        ring.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "it")
        if step % 10 == 0:
            loss = 1.0 if rank == 2 and step >= STALL - 20 else 3 - step / 5000
            if stop(loss):
                if not SLOW:
                    break
                busy(66)
    test(ring)


main(3, body)
