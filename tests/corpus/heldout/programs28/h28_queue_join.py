"""An evaluation in a child of its own at step 110: the child puts its predictions into a queue, the parent joins it before
it takes them. There are more of them than a pipe holds.

slow: the evaluation takes 66 s and its result is small."""
import multiprocessing

from kit28 import SLOW, STALL, STEPS, busy, compute, role, tell, with_parent


def evaluate(queue):
    with_parent()
    role("evaluator")
    if SLOW:
        busy(66)
    queue.put([0.5] * (100 if SLOW else 200000))


def run_eval():
    queue = multiprocessing.Queue()
    p = multiprocessing.Process(target=evaluate, args=(queue,))
    p.start()
    p.join()
    return queue.get()


if __name__ == "__main__":
    role("main")
    for step in range(STEPS):
        compute()
        tell(step, "epoch")
        if step == STALL:
            run_eval()
