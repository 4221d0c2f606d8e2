"""The index of a part of the data is a cached_property; that of a mixture asks its parts for theirs in threads. Until
Python 3.12 one lock is behind that property, for all objects: the mixture's holds it while it waits for its threads,
and they wait for the lock."""
import functools
from concurrent.futures import ThreadPoolExecutor

from kit19 import crunch, role, told

POOL = ThreadPoolExecutor(2)


class Part:
    def __init__(self, n, parts=()):
        self.n, self.parts = n, parts

    @functools.cached_property
    def index(self):
        if self.parts:
            return sum(POOL.map(lambda part: part.index, self.parts))
        crunch(0.05)
        return self.n


def train():
    role("main")
    data = [Part(100) for _ in range(4)]
    for step in range(400):
        if step == 40:
            data.append(Part(0, [Part(50), Part(70)]))
        total = data[-1].index + data[step % len(data)].index
        crunch(0.2)
        told(step)
    return total


train()
