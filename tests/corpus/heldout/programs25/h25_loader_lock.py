"""Two ranks; rank 1 has two loaders that share a queue of indices. A loader that has nothing to do waits for an index and
has the queue's lock meanwhile. One is killed as it waits: the guard of memory takes the largest. Its lock is never given
back, the other loader does not get at its next index, and rank 1 waits for a batch."""
import multiprocessing
import os
import signal
import time

from kit25 import STALL, STEPS, Log, Model, Star, crunch, main, role, with_parent

context = multiprocessing.get_context("fork")


def load(which, indices, batches):
    with_parent()
    role("loader%d" % which)
    while True:
        i = indices.get()
        crunch(0.1)
        batches.put((i, [i] * 64))


class Loader:
    def __init__(self):
        self.indices, self.batches = context.Queue(), context.Queue()
        self.workers = [context.Process(target=load, args=(k, self.indices, self.batches), daemon=True) for k in range(2)]
        for w in self.workers:
            w.start()

    def batch(self, step):
        self.indices.put(step)
        return self.batches.get()

    def guard_memory(self):
        """Kill the one that has the lock: it is the one whose wait is in a read."""
        while True:
            for w in self.workers:
                with open("/proc/%d/syscall" % w.pid) as f:
                    if f.read().split()[0] == "0":
                        os.kill(w.pid, signal.SIGKILL)
                        return
            time.sleep(0.01)


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("json")
    loader = Loader() if rank == 1 else None
    for step in range(STEPS):
        if rank == 1:
            if step == STALL:
                loader.guard_memory()
            loader.batch(step)
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


main(2, body)
