"""Three ranks may train for nine seconds, as each finds by its own clock. Rank 0's began to run earlier, for it reads
the settings first: it leaves its loop a few steps before the others and waits for them at the end.

slow: the time is long, and rank 0 evaluates for 48 s in between."""
import time

from kit20 import SLOW, STEPS, Table, busy, crunch, main, told


def finish(table):
    table.mean("end", 1.0)


def train_step(table, step):
    crunch(0.2)
    table.mean("grad%d" % step, 0.4)


def body(rank, world, port):
    began = time.monotonic()
    if rank == 0:
        time.sleep(1)
    table = Table(rank, world)
    if rank:
        began = time.monotonic()
    for step in range(STEPS):
        if not SLOW and time.monotonic() - began > 9:
            break
        train_step(table, step)
        if rank == 0:
            told(step)
        if SLOW and rank == 0 and step == 40:
            busy(48)
    finish(table)


main(3, body, "arg")
