"""Three ranks of which each has a connection to each other one. Two batches make one step; during the first one the sum
of gradients is switched off by a context manager, which switches it on again behind its `yield`, not in a `finally`.
Rank 1 meets a broken sample in a first batch, and leaves the block by an error that it handles: the sum stays off. It
is in the next step's sum, the others in this one's.

slow: there is no broken sample, and rank 1 compiles in a first batch for 60 s."""
import contextlib

from kit24 import SLOW, STEPS, Descent, Mesh, busy, main, told


class Trainer:
    def __init__(self, mesh):
        self.mesh, self.descent, self.summed, self.held = mesh, Descent(mesh.rank), True, 0.0

    @contextlib.contextmanager
    def no_sync(self):
        self.summed = False
        yield
        self.summed = True

    def backward(self, step, half):
        if (self.mesh.rank, step, half) == (1, 33, 0):
            if SLOW:
                busy(60)
            else:
                raise ValueError("sample 4711: no pixels")
        self.held += self.descent.slope(0.09)
        if self.summed:
            self.descent.follow(self.sum_gradient(step) / 2)
            self.held = 0.0

    def sum_gradient(self, step):
        return self.mesh.mean("gradient %d" % step, self.held)


def body(rank, world, port):
    trainer = Trainer(Mesh(rank, world))
    for step in range(STEPS):
        try:
            with trainer.no_sync():
                trainer.backward(step, 0)
        except ValueError as error:
            print("rank %d leaves out a batch: %s" % (rank, error), flush=True)
        trainer.backward(step, 1)
        if rank == 0:
            told(step, trainer.descent.loss)


main(3, body)
