"""Four ranks in a ring. The data set is not divisible by four: rank 2 has one batch fewer in an epoch, and gathers the
epoch's accuracy while the others wait for its gradient."""
from kit25 import STALL, Log, Model, Ring, main


def epoch_end(ring, epoch, model):
    return ring.mean("accuracy %d" % epoch, 1 / (1 + model.loss))


def body(rank, world, port):
    ring, model, log = Ring(rank, world), Model(rank), Log("logger")
    batches, step = 25, 0
    for epoch in range(60):
        if epoch == STALL // 25 and rank == 2:
            batches = 24
        for _ in range(batches):
            model.step(ring.mean("gradient %d" % step, model.backward()))
            if rank == 0:
                log(step, model.loss)
            step += 1
        epoch_end(ring, epoch, model)


main(4, body)
