"""Ranks meet at a barrier of a manager of multiprocessing. The evaluator, a fourth party, ends after its last evaluation; the
barrier still counts it.

slow: the evaluator evaluates for 64 s."""
import multiprocessing
import sys

from kit27 import SLOW, STALL, STEPS, busy, crunch, role, tell, with_parent


def train(rank, barrier):
    role("rank%d" % rank)
    with_parent()
    for step in range(STEPS):
        crunch(0.2)
        barrier.wait()
        if rank == 0:
            tell(step, "| step {step} | loss {loss:.3f} |")


def evaluate(barrier):
    role("evaluator")
    with_parent()
    for step in range(STEPS):
        if step == STALL:
            if not SLOW:
                sys.exit(0)
            busy(64)
        crunch(0.1)
        barrier.wait()


if __name__ == "__main__":
    role("launcher")
    context = multiprocessing.get_context("fork")
    manager = context.Manager()
    role("manager", manager._process.pid)
    barrier = manager.Barrier(4)
    jobs = [context.Process(target=train, args=(r, barrier), name="rank-%d" % r) for r in range(3)]
    jobs.append(context.Process(target=evaluate, args=(barrier,)))
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
