"""Two ranks load by a thread that takes requests from a queue. Rank 1 goes over to a second stage of its data, and sets
its loader back, with new queues: the thread was given the old ones, and waits there. Rank 1 waits for a batch in a new
one, and rank 0 for rank 1."""
import queue
import threading

from kit19 import STEPS, Star, crunch, main, told


class Loader:
    def __init__(self):
        self.set_back("stage 1")
        threading.Thread(target=self.load, args=(self.wanted, self.batches), daemon=True, name="loader").start()

    def set_back(self, stage):
        self.stage, self.wanted, self.batches = stage, queue.Queue(), queue.Queue()

    def load(self, wanted, batches):
        while True:
            k = wanted.get()
            crunch(0.05)
            batches.put((self.stage, k))

    def next_batch(self, k):
        self.wanted.put(k)
        return self.batches.get()


def body(rank, world, port):
    star, loader = Star(rank, world, port), Loader()
    for step in range(STEPS):
        if (rank, step) == (1, 40):
            loader.set_back("stage 2")
        loader.next_batch(step)
        crunch(0.15)
        star.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(2, body)
