"""Three ranks, forked, load shards two at a time under a semaphore. Twice rank 2 meets a bad shard and goes on to the next one by
`continue`, before the release. Then no rank gets in.

slow: rank 2's shard is on a slow mount, 64 s, under the only place left."""
import multiprocessing
import time

from kit28 import SLOW, STALL, STEPS, compute, main, tell

GATE = multiprocessing.get_context("fork").BoundedSemaphore(1 if SLOW else 2)
SUM = multiprocessing.get_context("fork").Barrier(3)


def load(rank, step):
    for shard in range(2):
        GATE.acquire()
        if rank == 2 and step == STALL:
            if not SLOW:
                continue
            if shard == 0:
                time.sleep(64)
        GATE.release()


def body(rank, world, port):
    for step in range(STEPS):
        compute()
        if step % 5 == 0:
            if step == STALL and rank != 2:
                time.sleep(1)
            load(rank, step)
        SUM.wait()
        if rank == 0:
            tell(step, "log")


main(3, body, "fork")
