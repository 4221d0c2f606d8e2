"""Eight ranks in groups of four with a second sum over the leaders; rank 6 waits for a semaphore nobody raises."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

r = kit.rank()
slots = threading.Semaphore(15)


def link(members, k):
    lead = members[0]
    if r == lead:
        s = kit.bind(kit.port(k))
        cs = [s.accept()[0] for _ in members[1:]]
        return lambda x: [kit.put(c, 1) for c in [(kit.take(c), c)[1] for c in cs]]
    c = kit.dial(kit.port(k))
    return lambda x: (kit.put(c, x), kit.take(c))


def run():
    g = r // 4
    near = link([4 * g + i for i in range(4)], g)
    far = link([0, 4], 5) if r in (0, 4) else None
    for i in range(1000):
        kit.work(0.3)
        slots.acquire()
        if r != 6:
            slots.release()
        near(1)
        if far:
            far(1)
        if r == 0:
            kit.step(i)


kit.go(8, run)
