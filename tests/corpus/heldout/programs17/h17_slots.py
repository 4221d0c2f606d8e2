"""Two forked ranks share four slots of pinned memory, a semaphore. At step 40 each needs three and takes them one by
one: each has two, and both wait for a third.

slow: rank 0 takes all three before, and works with them for 48 s."""
import multiprocessing
import time

from kit17 import SLOW, Chain, busy, crunch, main, told

SLOTS = multiprocessing.get_context("fork").Semaphore(4)


def with_slots(n, work, pause=0.3):
    for _ in range(n):
        SLOTS.acquire()
        time.sleep(pause)
    work()
    for _ in range(n):
        SLOTS.release()


def body(rank, world, port):
    chain = Chain(rank, world, port)
    for step in range(60 if SLOW else 400):
        chain.mean("grad%d" % step, 0.1)
        if step != 40:
            with_slots(1, lambda: crunch(0.2), 0)
        elif SLOW:
            time.sleep(rank)
            with_slots(3, lambda: busy(48 if rank == 0 else 1), 0)
        else:
            with_slots(3, lambda: crunch(1.0))
        if rank == 0:
            told(step)


main(2, body, "fork")
