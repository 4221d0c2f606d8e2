"""A relay forwards between rank 0 and rank 2; rank 2 waits for a note that never comes."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import select
import threading

r = kit.rank()


def before(env):
    if os.fork():
        return
    kit.die_with_parent()
    kit.role("proxy")
    base = int(env["MASTER_PORT"])
    l = kit.bind(base + 5)
    a, _ = l.accept()
    b = kit.dial(base + 6)
    pair = {a.fileno(): (a, b), b.fileno(): (b, a)}
    while True:
        for fd in select.select(list(pair), [], [])[0]:
            x = pair[fd][0].recv(65536)
            if not x:
                os._exit(0)
            pair[fd][1].sendall(x)


class Gate:
    def __init__(self):
        self.cv, self.n = threading.Condition(), 0

    def admit(self, i):
        with self.cv:
            while i >= 14 and self.n == 0:
                self.cv.wait()


def run():
    kit.services(2)
    if r == 2:
        s = kit.bind(kit.port(6))
        g = Gate()
        c, _ = s.accept()
        for i in range(1000):
            x = kit.take(c)
            g.admit(i)
            kit.put(c, x + 1)
    elif r == 1:
        c = kit.dial(kit.port(7))
        while True:
            kit.work(0.3)
            kit.put(c, 1)
            kit.take(c)
    else:
        s = kit.bind(kit.port(7))
        far = kit.dial(kit.port(5))
        near, _ = s.accept()
        for i in range(1000):
            kit.put(far, kit.take(near))
            kit.put(near, kit.take(far))
            kit.step(i)


kit.go(3, run, before=before)
