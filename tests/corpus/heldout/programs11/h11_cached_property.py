"""A cached property as the standard library had it until 3.11: one lock for all instances of the class. The index of a data set is made by threads that
want the index of its parts, while the first has the lock and waits for the threads."""
import concurrent.futures
import threading

from kit11 import crunch, role


class cached_property:
    def __init__(self, function):
        self.function, self.lock, self.name = function, threading.RLock(), function.__name__

    def __get__(self, instance, owner=None):
        if self.name not in instance.__dict__:
            with self.lock:
                if self.name not in instance.__dict__:
                    instance.__dict__[self.name] = self.function(instance)
        return instance.__dict__[self.name]


class Shards:
    def __init__(self, names, parts=()):
        self.names, self.parts = names, parts

    @cached_property
    def index(self):
        crunch(0.3)
        if not self.parts:
            return {name: k for k, name in enumerate(self.names)}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return {k: v for part in pool.map(lambda p: p.index, self.parts) for k, v in part.items()}


role("main")
for name in ("c4", "wiki"):
    print(name, len(Shards([name + "-%d" % k for k in range(8)]).index), "shards", flush=True)
mixture = Shards([], [Shards(["c4-1"]), Shards(["wiki-1"])])
print("mixture", len(mixture.index), "shards", flush=True)
