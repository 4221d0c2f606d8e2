"""A handle gives its number back in __del__ under the table's lock; one is dropped while the same thread has that lock."""
import threading

import kit6

lock, free = threading.Lock(), list(range(50))


class Handle:
    def __init__(self):
        with lock:
            self.n = free.pop()

    def __del__(self):
        with lock:
            free.append(self.n)


def shrink(cache):
    with lock:
        if len(free) < 30:
            cache.clear()


kit6.role("main")
cache = []
for step in range(1000):
    kit6.crunch(0.2)
    cache.append(Handle())
    shrink(cache)
    print("step", step, len(free), flush=True)
