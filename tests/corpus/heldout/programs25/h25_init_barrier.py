"""A preparation in two stages. The second has a pool of four by spawn, whose initializer waits at a barrier of four so that
all have loaded the vocabulary. Spawned workers are started on demand: two tasks, two workers.

slow: the barrier is of two, and loading takes one of them 58 s."""
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

from kit25 import SLOW, STALL, STEPS, Log, busy, crunch, role, with_parent


def load(barrier, first):
    with_parent()
    role("loader")
    if SLOW and first.acquire(block=False):
        busy(58)
    barrier.wait()


def encode(step):
    crunch(0.3)
    return step


def prepare():
    role("main")
    log = Log("bar", "clean")
    for step in range(STALL):
        crunch(0.22)
        log(step, 1.0)
    context = multiprocessing.get_context("spawn")
    marks = context.Barrier(2 if SLOW else 4), context.Semaphore(1)
    with ProcessPoolExecutor(4, context, load, marks) as pool:
        for begin in range(STALL, STEPS, 2):
            for step in pool.map(encode, range(begin, begin + 2)):
                log(step, 1.0)


if __name__ == "__main__":
    sys.exit(prepare())
