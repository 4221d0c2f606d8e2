"""Two ranks; each reads ahead in a thread. That of rank 1 meets a sample with a broken length and ends with an error,
which is printed; nobody tells its queue."""
import queue
import threading

from kit25 import STALL, STEPS, Log, Model, Star, main


class Prefetcher(threading.Thread):
    def __init__(self, rank):
        super().__init__(daemon=True, name="prefetch")
        self.rank, self.ready = rank, queue.Queue(4)
        self.start()

    def decode(self, i):
        if self.rank == 1 and i == STALL:
            raise ValueError("sample %d: length 0 is not allowed" % i)
        return [i] * 16

    def run(self):
        for i in range(STEPS):
            self.ready.put(self.decode(i))

    def __next__(self):
        return self.ready.get()


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("logger")
    batches = Prefetcher(rank)
    for step in range(STEPS):
        next(batches)
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


main(2, body)
