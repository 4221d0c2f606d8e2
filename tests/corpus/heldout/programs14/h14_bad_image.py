"""A thread reads images ahead for each of two ranks. The thread of rank 1 meets one that is cut off, and ends
by the error; the trainer takes from its queue for ever, and rank 0 waits for its gradient."""
import queue
import threading

from kit14 import Store, crunch, main, told


class Loader:
    def __init__(self, rank):
        self.rank, self.ready = rank, queue.Queue(maxsize=4)
        threading.Thread(target=self.run, name="prefetch", daemon=True).start()

    def decode(self, k):
        data = bytes(3 * 32 * 32 if (self.rank, k) != (1, 66) else 1999)
        if len(data) != 3 * 32 * 32:
            raise OSError("image file is truncated (%d bytes not processed): img_%05d.jpg" % (3072 - len(data), k))
        return data

    def run(self):
        for k in range(300):
            self.ready.put(self.decode(k))

    def next(self):
        return self.ready.get()


def body(rank, world, port):
    store, loader = Store(rank, world, port), Loader(rank)
    for step in range(300):
        batch = loader.next()
        crunch(0.12)
        store.all_reduce("grad/%d" % step, len(batch))
        if rank == 0:
            told(step)


main(2, body)
