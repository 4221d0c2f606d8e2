"""Worker 1's thread of batches shuffles its index for 62 s, its main waits for a batch; a heartbeat thread goes on in each."""
import collections
import json
import threading
import time

import kit8


class Prefetch(threading.Thread):
    def __init__(self, slow):
        super().__init__(daemon=True)
        self.ready, self.change, self.slow = collections.deque(), threading.Condition(), slow

    def run(self):
        for n in range(50):
            if n == self.slow:
                kit8.compute(62)
            with self.change:
                self.change.wait_for(lambda: len(self.ready) < 4)
                self.ready.append(n)
                self.change.notify_all()

    def next(self):
        with self.change:
            self.change.wait_for(lambda: self.ready)
            self.change.notify_all()
            return self.ready.popleft()


def beat(rank):
    while True:
        time.sleep(2)
        open("heartbeat.%d" % rank, "w").write(str(time.time()))


def train(rank, n, port):
    star, batches = kit8.Star(rank, n, port), Prefetch(25 if rank == 1 else -1)
    batches.start()
    threading.Thread(target=beat, args=(rank,), daemon=True).start()
    for step in range(40):
        batch = batches.next()
        kit8.crunch(0.2)
        loss = star.mean(1 / (1 + batch))
        if rank == 0:
            print(json.dumps({"level": "info", "step": step, "loss": loss}), flush=True)


kit8.ranks(2, train, "NODE_NO")
