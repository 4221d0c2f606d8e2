"""Two ranks. Rank 0 gives its metrics to a process that keeps them, by queues. That process was killed for its memory
at step 30, which nobody notices; at the end rank 0 asks it to finish and waits for its word, rank 1 for rank 0.

slow: the process lives and writes for 48 s before it says so."""
import multiprocessing
import os
import signal

from kit21 import SLOW, Hub, busy, crunch, main, role, told, with_parent


def keep(metrics, answers):
    with_parent()
    role("keeper")
    while True:
        step, loss = metrics.get()
        if step == 30 and not SLOW:
            os.kill(os.getpid(), signal.SIGKILL)
        if step is None:
            busy(48)
            return answers.put("written")


class Tracker:
    def __init__(self):
        context = multiprocessing.get_context("fork")
        self.metrics, self.answers = context.Queue(), context.Queue()
        self.keeper = context.Process(target=keep, args=(self.metrics, self.answers), name="keeper")
        self.keeper.start()

    def log(self, step, loss):
        self.metrics.put((step, loss))

    def finish(self):
        self.metrics.put((None, None))
        return self.answers.get()


def body(rank, world, port):
    tracker = Tracker() if rank == 0 else None
    hub = Hub(rank, world, port)
    for step in range(45):
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            tracker.log(step, 0.5)
    if rank == 0:
        tracker.finish()
    hub.mean("end", 1)


main(2, body)
