"""Three ranks (by argument) go over their batches by map(). Each step takes one of the crops by next(). Rank 1 has
fewer of them: the StopIteration out of its step ends its map(), as if the batches were at their end. It waits at the
end of the epoch, the others in the next step."""
from kit17 import Star, crunch, main, told


def body(rank, world, port):
    star = Star(rank, world, port)
    crops = iter([(k % 7, k % 5) for k in range(48 if rank == 1 else 400)])

    def train_step(step):
        x, y = next(crops)
        crunch(0.18)
        return star.mean("grad%d" % step, 0.1 * x + y)

    for step, _ in enumerate(map(train_step, range(400))):
        if rank == 0:
            told(step)
    star.mean("end-of-epoch", 1.0)


main(3, body, "arg")
