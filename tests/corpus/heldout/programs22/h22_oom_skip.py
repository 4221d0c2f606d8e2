"""Three ranks over TCP. A batch for which the memory does not suffice is skipped, with a warning. Rank 2 has such a batch, and
finds it between the two sums of a step: the others are in the second one, it is in the first one of the next step.

slow: instead of the skipping rank 2 cuts its batch into small parts, for 48 s."""
import sys

from kit22 import SLOW, STEPS, Mesh, Model, busy, main


def backward(model, batch, rank, step):
    if rank == 2 and step == 31:
        if not SLOW:
            raise MemoryError("out of memory: tried to allocate 5.62 GiB")
        busy(48)
    return model.gradient(batch)


def sum_loss(mesh, step, loss):
    return mesh.all_reduce("loss %d" % step, loss)


def sum_gradient(mesh, step, gradient):
    return mesh.all_reduce("gradient %d" % step, gradient)


def body(rank, world, port):
    mesh, model = Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        try:
            batch = model.batch()
            sum_loss(mesh, step, model.loss)
            model.apply(sum_gradient(mesh, step, backward(model, batch, rank, step)))
        except MemoryError as error:
            print("warning: %s, batch skipped" % error, file=sys.stderr, flush=True)
            continue
        if rank == 0:
            model.told(step)


main(3, body)
