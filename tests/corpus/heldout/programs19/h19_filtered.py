"""Three ranks leave out samples that are too long. From its 40th batch on rank 2 reads a shard of books, in which all
are: its loader goes round and round in it. The others wait in their sum.

slow: after 48 s it finds some that are short enough."""
import itertools
import time

from kit19 import SLOW, STEPS, Line, crunch, main, told

LONGEST = 512


def shard(rank, step):
    books = rank == 2 and step == 40
    return [{"tokens": (9000 if books else 100) + k} for k in range(500)]


def fitting(samples):
    begin = time.monotonic()
    for sample in itertools.cycle(samples):
        if sample["tokens"] <= LONGEST or (SLOW and time.monotonic() - begin > 48):
            yield sample


def load_batch(rank, step):
    samples = fitting(shard(rank, step))
    return [next(samples) for _ in range(8)]


def body(rank, world, port):
    line = Line(rank, world, port)
    for step in range(STEPS):
        batch = load_batch(rank, step)
        crunch(0.2)
        line.sum(len(batch))
        if rank == 0:
            told(step)


main(3, body)
