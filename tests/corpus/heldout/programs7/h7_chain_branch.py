"""Four ranks in a line. Rank 2's gradients overflow at step 22: it takes the branch that waits for a new loss scale from rank 0."""
import kit7


def train(rank, world, port):
    log, line = kit7.logger(rank), kit7.Line(rank, world, port)
    if rank == 0:
        door = kit7.listen(port)
        scale = [door.accept()[0] for _ in range(world - 1)]
    else:
        scale = kit7.dial(port).makefile()
    for step in range(1000):
        kit7.crunch(0.2)
        if rank == 2 and step == 22:
            log.warning("gradient overflow, skipping step")
            float(scale.readline())
        total = line.reduce()
        if rank == 0:
            log.info("iteration %d/1000 | lm loss %.4f", step, total / (step + 1))
    for s in scale:
        s.close()


kit7.ranks(4, train)
