"""Four stages over unix sockets; stage 2 waits for an event whose thread has ended. Args: services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

SRV, COPIES = map(int, sys.argv[1:3])
r = kit.rank()


class Prefetch:
    def __init__(self, n):
        self.ready, self.take = threading.Event(), threading.Event()
        threading.Thread(target=self.fill, args=(n,), daemon=True).start()

    def fill(self, n):
        for _ in range(n):
            self.ready.set()
            self.take.wait()
            self.take.clear()

    def next(self):
        self.ready.wait()
        self.ready.clear()
        self.take.set()


def run():
    m = kit.Mesh()
    pf = Prefetch(14 if r == 2 else 10 ** 6)
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    n = kit.world()
    for i in range(1000):
        kit.work(0.25)
        if r:
            kit.take(m.to[r - 1])
        pf.next()
        if r < n - 1:
            kit.put(m.to[r + 1], i)
            kit.take(m.to[r + 1])
        if r:
            kit.put(m.to[r - 1], i)
        else:
            kit.step(i)


kit.go(4, run, mesh=True)
