"""Two ranks. Rank 0 lets another process score the validation set, joins it, and would then take the scores out of the
queue. They are more than fits into the queue's pipe: the process cannot end before they are read.

slow: the scores are read first; scoring takes 48 s."""
import multiprocessing

from kit21 import SLOW, STEPS, Hub, busy, crunch, main, role, told, with_parent


def score(results):
    with_parent()
    role("scorer")
    busy(48 if SLOW else 1)
    results.put([k * 0.001 for k in range(40000)])


def evaluate():
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    scorer = context.Process(target=score, args=(results,), name="scorer")
    scorer.start()
    if SLOW:
        scores = results.get()
        scorer.join()
    else:
        scorer.join()
        scores = results.get()
    return sum(scores) / len(scores)


def body(rank, world, port):
    hub = Hub(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            if step == 40:
                evaluate()


main(2, body)
