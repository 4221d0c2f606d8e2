"""The talk of h9_negotiate.py. Rank 1 writes a checkpoint for 60 s, and then hands in what all wait for."""
import threading
import time

import kit9


class Background:
    def __init__(self, rank, n, port):
        self.hub, self.n = kit9.Hub(rank, n, port), n
        self.ready, self.done, self.change = set(), set(), threading.Condition()
        threading.Thread(target=self.cycle, daemon=True).start()

    def cycle(self):
        while True:
            time.sleep(0.05)
            with self.change:
                mine = sorted(self.ready)
            names = self.hub.reduce(mine)
            full = {x for x in names if names.count(x) == self.n}
            with self.change:
                self.ready -= full
                self.done |= full
                if full:
                    self.change.notify_all()

    def allreduce(self, name):
        with self.change:
            self.ready.add(name)
            self.change.wait_for(lambda: name in self.done)


def save(rank):
    with open("checkpoint-%d" % rank, "wb") as f:
        for _ in range(600):
            f.write(b"w" * 10000)
            f.flush()
            time.sleep(0.1)


def train(rank, n, port):
    group = Background(rank, n, port)
    for s in range(36):
        kit9.crunch(0.1)
        group.allreduce("grad/%d" % s)
        kit9.step(rank, s, 36)
        if rank == 1 and s == 20:
            save(rank)
    time.sleep(0.5)  # so that the last round is told to all


kit9.ranks(3, train, "horovod")
