"""A pool scores shards; the callback that adds up a shard's score fails for a shard without samples (division by zero). That
ends the pool's thread that takes results: no later result is ever delivered, main waits in get().

slow: there is no such shard; one takes 66 s."""
import multiprocessing
import threading

from kit27 import SLOW, STALL, STEPS, busy, crunch, role, tell, with_parent

scores = []
threading.excepthook = lambda args: None  # "too noisy in the logs"


def begin():
    with_parent()
    role("scorer")


def score(step):
    crunch(0.25)
    if SLOW and step == STALL:
        busy(66)
    return (1.0, 0 if step == STALL and not SLOW else 8)


def add(got):
    scores.append(got[0] / got[1])


role("main")
with multiprocessing.get_context("fork").Pool(2, begin) as pool:
    for step in range(STEPS):
        pool.apply_async(score, (step,), callback=add).get()
        tell(step, "shard {step:05d} scored, mean {loss:.3f}")
