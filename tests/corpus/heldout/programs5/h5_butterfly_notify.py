"""Eight ranks reduce by recursive doubling. Batches come from a thread that notifies a condition; who waits looks at nothing first."""
import threading
import time

import kit5


class Feed:
    def __init__(self, rank):
        self.ready, self.batch, self.rank = threading.Condition(), None, rank
        self.count = 0
        threading.Thread(target=self.fill, daemon=True).start()

    def fill(self):
        while True:
            time.sleep(0.3)
            with self.ready:
                self.count += 1
                self.batch = self.count
                self.ready.notify()
            if self.rank == 5 and self.count == 9:
                return  # end of this shard

    def next(self):
        with self.ready:
            self.ready.wait()
            return self.batch


def train(rank, world, port):
    group, feed = kit5.Butterfly(rank, world, port), Feed(rank)
    for step in range(1000):
        x = feed.next()
        total = group.reduce(x)
        if rank == 0:
            print("iter %d/1000 sum %d" % (step, total), flush=True)


kit5.ranks(8, train)
