"""Rank 1's prefetcher, a thread of Python, counts batches in a semaphore of C; its main thread waits for that semaphore in a binding
that keeps the interpreter's lock. It goes well as long as a batch is ready."""
import ctypes
import threading
import time

import kit9

native = ctypes.PyDLL(None)


class Prefetch:
    def __init__(self):
        self.ready = ctypes.create_string_buffer(64)
        native.sem_init(self.ready, 0, 0)
        threading.Thread(target=self.fill, daemon=True).start()

    def fill(self):
        for k in range(1000):
            if k == 20:
                time.sleep(4)  # the next shard is opened
            time.sleep(0.02)
            native.sem_post(self.ready)

    def batch(self):
        native.sem_wait(self.ready)


def train(rank, n, port):
    ring = kit9.Ring(rank, n, port)
    prefetch = Prefetch() if rank == 1 else None
    for s in range(60):
        kit9.crunch(0.15)
        if prefetch:
            prefetch.batch()
        ring.reduce(1.0)
        kit9.step(rank, s, 60)


kit9.main(3, train, "arg")
