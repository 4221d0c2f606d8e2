"""Three ranks. A batch of long samples does not fit into the memory of rank 1, which takes it in two halves instead,
and sums the gradients behind each half. The others sum once, and are in the next step's sum.

slow: rank 1 takes 48 s for its two halves and sums once."""
from kit20 import SLOW, STEPS, Star, busy, crunch, main, told


def backward(rank, step, rows):
    if rank == 1 and step == 35 and len(rows) > 8:
        raise MemoryError("%d rows do not fit" % len(rows))
    crunch(0.02 * len(rows))
    return sum(rows) / len(rows)


def in_halves(star, rank, step, rows):
    half = len(rows) // 2
    for part in rows[:half], rows[half:]:
        grad = backward(rank, step, part)
        if SLOW:
            busy(24)
        else:
            grad = star.mean("grad%d" % step, grad)
    return star.mean("grad%d" % step, grad) if SLOW else grad


def train_step(star, rank, step):
    rows = [0.1 * k for k in range(10)]
    try:
        star.mean("grad%d" % step, backward(rank, step, rows))
    except MemoryError:
        in_halves(star, rank, step, rows)


def body(rank, world, port):
    star = Star(rank, world, port)
    for step in range(STEPS):
        train_step(star, rank, step)
        if rank == 0:
            told(step)


main(3, body)
