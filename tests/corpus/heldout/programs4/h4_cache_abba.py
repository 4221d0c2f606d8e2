"""In rank 2 a thread that evicts and the trainer take the two locks of a cache in different orders."""
import threading
import time

import kit4


class Cache:
    def __init__(self):
        self.index_lock, self.data_lock, self.index, self.data = threading.Lock(), threading.Lock(), {}, {}

    def get(self, k):
        with self.index_lock:
            self.index[k] = time.time()
            time.sleep(0.01)
            with self.data_lock:
                return self.data.setdefault(k, [k] * 50)

    def evict(self):
        with self.data_lock:
            time.sleep(0.01)
            with self.index_lock:
                for k in sorted(self.index)[:-10]:
                    self.index.pop(k), self.data.pop(k, None)


def evictor(cache):
    while True:
        cache.evict()


def train(rank, world, port):
    hub, cache = kit4.Hub(rank, world, port), Cache()
    for i in range(400):
        if i == 14 and rank == 2:
            threading.Thread(target=evictor, args=(cache,), name="evictor", daemon=True).start()
        for k in range(20):
            cache.get(i * 20 + k)
        kit4.crunch(0.1)
        hub.reduce(1.0)
        if rank == 0:
            print("step %d" % i, flush=True)


kit4.main(4, train, "arg")
