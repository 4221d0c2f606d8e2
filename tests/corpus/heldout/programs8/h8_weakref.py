"""A cache counts its bytes under a lock; the finalizer of what is replaced under the lock wants the lock."""
import threading
import weakref

import kit8


class Batch:
    def __init__(self, n):
        self.data = bytes(n)


class Cache:
    def __init__(self):
        self.lock, self.items, self.size = threading.Lock(), {}, 0

    def put(self, key, batch):
        with self.lock:
            self.size += len(batch.data)
            weakref.finalize(batch, self.dropped, len(batch.data))
            self.items[key] = batch

    def dropped(self, size):
        with self.lock:
            self.size -= size


kit8.role("main")
cache = Cache()
for step in range(1000):
    kit8.crunch(0.2)
    cache.put(step % 40, Batch(1000 + step))
    print("step %d cache %d bytes" % (step, cache.size), flush=True)
