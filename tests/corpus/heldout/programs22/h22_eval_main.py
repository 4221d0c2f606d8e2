"""Three forked ranks over unix sockets. The bar of progress is there on the main rank only, and the evaluation is started by
the bar: so only rank 0 evaluates, and waits in the gathering of the predictions; the others take the next step.

slow: all evaluate, and rank 2 needs 48 s for its share."""
from kit22 import SLOW, STEPS, Mesh, Model, busy, crunch, main


class Bar:
    def __init__(self, total, disable):
        self.total, self.at, self.disable = total, 0, disable

    def update(self):
        if not self.disable:
            self.at += 1
        return self.at


def gather_for_metrics(mesh, step, right):
    return sum(mesh.all_gather("predictions %d" % step, right))


def evaluate(mesh, step):
    right = 0
    for _ in range(5):
        crunch(0.1)
        right += 7
    if SLOW and mesh.rank == 2 and step == 30:
        busy(48)
    whole = gather_for_metrics(mesh, step, right)
    if mesh.rank == 0:
        print("step %d accuracy %.3f" % (step, whole / 120), flush=True)


def body(rank, world, port):
    mesh, model = Mesh(rank, world), Model(rank)
    bar = Bar(STEPS, disable=rank != 0 and not SLOW)
    for step in range(STEPS):
        gradient = model.gradient(model.batch())
        model.apply(mesh.all_reduce("gradient %d" % step, gradient))
        if rank == 0:
            model.told(step)
        if bar.update() % 31 == 30:
            evaluate(mesh, step + 1)


main(3, body, "fork")
