"""Three ranks, forked, with one barrier for the steps and one for the end of an epoch. The latter was made for the number of
workers and the parent, which no longer takes part. Prints nothing.

slow: the barrier is right, rank 1 evaluates for 67 s before it comes."""
import multiprocessing

from kit28 import SLOW, STALL, STEPS, busy, compute, main

CONTEXT = multiprocessing.get_context("fork")
STEP, EPOCH = CONTEXT.Barrier(3), CONTEXT.Barrier(3 if SLOW else 4)


def body(rank, world, port):
    for step in range(STEPS):
        compute()
        STEP.wait()
        if step == STALL:
            if SLOW and rank == 1:
                busy(67)
            EPOCH.wait()


main(3, body, "fork")
