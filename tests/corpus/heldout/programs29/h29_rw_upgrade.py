"""Training of one process whose samples stand in a cache with a lock for readers and writers. Two reading threads find the same sample
missing, keep their share of the reading lock and want the writing one: each waits until the other one has stopped reading. It prints
nothing.

slow: a reader lets go first; a sample is decoded for 67 s under the writing lock."""
import threading

from kit29 import SLOW, STALL, STEPS, Model, busy, crunch, role


class ReadWriteLock:
    def __init__(self):
        self.change, self.readers, self.writing = threading.Condition(), 0, False

    def read(self):
        with self.change:
            while self.writing:
                self.change.wait()
            self.readers += 1

    def read_done(self):
        with self.change:
            self.readers -= 1
            self.change.notify_all()

    def write(self, own=0):
        with self.change:
            while self.readers > own or self.writing:
                self.change.wait()
            self.writing = True

    def write_done(self):
        with self.change:
            self.writing = False
            self.change.notify_all()


class Cache:
    def __init__(self):
        self.lock, self.samples = ReadWriteLock(), {k: 1.0 * k for k in range(STALL)}
        self.both = threading.Barrier(2)

    def get(self, k):
        self.lock.read()
        try:
            if k in self.samples:
                return self.samples[k]
            self.both.wait()
            if SLOW:
                self.lock.read_done()
            self.lock.write(own=0 if SLOW else 1)
            if SLOW and k == STALL and k not in self.samples:
                busy(67)
            self.samples[k] = 1.0 * k
            self.lock.write_done()
            if SLOW:
                self.lock.read()
            return self.samples[k]
        finally:
            self.lock.read_done()


def reader(cache, out, ready):
    for k in range(STEPS):
        out.append(cache.get(k))
        ready.wait()
        crunch(0.01)


def main():
    role("main")
    cache, model, ready, parts = Cache(), Model(), threading.Barrier(3), ([], [])
    for part in parts:
        threading.Thread(target=reader, args=(cache, part, ready), daemon=True).start()
    for _ in range(STEPS):
        ready.wait()
        model.update(model.gradient() + 1e-9 * (parts[0][-1] + parts[1][-1]))


main()
