"""Four stages of a pipeline. At one step stage 2 begins with the backward pass, for which stage 3 needs its output first."""
import kit7


def stage(rank, world, port):
    log = kit7.logger(rank, "stage%d.log" % rank)
    door = kit7.listen(port + 1 + rank)
    before = kit7.dial(port + rank) if rank else None
    after = door.accept()[0] if rank < world - 1 else None
    for step in range(1000):
        late = rank == 2 and step == 17
        grad = kit7.receive(after) if late else None
        x = kit7.receive(before) if before else step
        kit7.crunch(0.06)
        if after:
            kit7.send(after, x)
            grad = grad or kit7.receive(after)
        if before:
            kit7.send(before, x)
        log.info("iteration %d elapsed time per iteration (ms): 240.1 loss %.3f", step, 2 / (step + 1))


kit7.ranks(4, stage)
