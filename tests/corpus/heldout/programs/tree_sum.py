"""Seven ranks, binary tree. Rank 5 wants a lock that its own flusher keeps."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

r = kit.rank()
stats, guard, flushed = {}, threading.Lock(), threading.Event()


def flusher(at):
    while True:
        at.wait()
        with guard:
            stats.clear()
            flushed.wait()


class Tree:
    def __init__(self):
        self.kids = []
        n = kit.world()
        s = kit.bind(kit.port(r))
        self.up = kit.dial(kit.port((r - 1) // 2)) if r else None
        for c in (2 * r + 1, 2 * r + 2):
            if c < n:
                self.kids.append(s.accept()[0])

    def reduce(self, x):
        for k in self.kids:
            x += kit.take(k)
        if self.up:
            kit.put(self.up, x)
            x = kit.take(self.up)
        for k in self.kids:
            kit.put(k, x)
        return x


def record(i):
    with guard:
        stats[i] = 1


def run():
    t = Tree()
    at = threading.Event()
    threading.Thread(target=flusher, args=(at,), daemon=True).start()
    for i in range(1000):
        kit.work(0.3)
        if i == 14 and r == 5:
            at.set()
            kit.work(0.2)
        record(i)
        t.reduce(1)
        if r == 0:
            kit.step(i)


kit.go(7, run)
