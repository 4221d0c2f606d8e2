"""Two ranks. A cache of rank 1 tells its registry, under the registry's lock, of entries that come, and by a finalizer of
those that go. One goes while another comes: the collector runs as the list grows, within the lock."""
import gc
import threading
import weakref

from kit25 import STALL, STEPS, Log, Model, Star, main


class Entry:
    def __init__(self, step):
        self.step, self.me = step, self


class Registry:
    def __init__(self):
        self.lock, self.known = threading.Lock(), {}

    def forget(self, step):
        with self.lock:
            self.known.pop(step, None)

    def add(self, step):
        entry = Entry(step)
        weakref.finalize(entry, self.forget, step)
        del entry
        with self.lock:
            self.known[step] = [[k] for k in range(2000 if step == STALL else 10)]


def body(rank, world, port):
    gc.set_threshold(100000 if rank else 700)
    star, model, log = Star(rank, world), Model(rank), Log("plain")
    registry = Registry()
    for step in range(STEPS):
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 1:
            if step < STALL:
                gc.collect()
            else:
                gc.set_threshold(50)
            registry.add(step)
        if rank == 0:
            log(step, model.loss)


main(2, body)
