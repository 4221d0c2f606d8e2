"""Two ranks that talk by unix packets. Rank 1 gives evaluations to a thread by a queue of priorities. Two of them have
the same priority, so that the queue compares the tasks themselves, which are dicts: the thread fails, and rank 1 waits
for the results.

slow: tasks are numbered, and one takes 48 s."""
import queue
import threading

from kit23 import SLOW, STEPS, Line, Star, busy, crunch, main, told

TODO, DONE = queue.PriorityQueue(), queue.Queue()


def evaluate_always():
    while True:
        task = TODO.get()[-1]
        crunch(0.1)
        if SLOW and task["name"] == "long":
            busy(48)
        DONE.put(task["name"])


def evaluate(priorities, step):
    for k, priority in enumerate(priorities):
        task = {"name": "long" if SLOW and step == 30 and k == 1 else "suite-%d" % k, "step": step}
        TODO.put((priority, k, task) if SLOW else (priority, task))
    return [DONE.get() for _ in priorities]


def body(rank, world, port):
    star, line = Star(rank, world), Line(rank)
    if rank == 1:
        threading.Thread(target=evaluate_always, name="evaluations", daemon=True).start()
    for step in range(STEPS):
        if rank == 1 and step % 10 == 0:
            evaluate([1, 2, 3] if step < 30 else [1, 2, 2], step)
        line.apply(star.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


main(2, body)
