"""Worker 1's thread of batches has logged an error and left; a heartbeat thread goes on. Its main waits for a batch."""
import collections
import json
import threading
import time

import kit8


class Prefetch(threading.Thread):
    def __init__(self, bad):
        super().__init__(daemon=True)
        self.ready, self.change, self.bad = collections.deque(), threading.Condition(), bad

    def run(self):
        try:
            for n in range(10 ** 6):
                with self.change:
                    self.change.wait_for(lambda: len(self.ready) < 4)
                    self.ready.append([n, 1][n == self.bad])
                    self.change.notify_all()
                if n == self.bad:
                    [][n]
        except IndexError as error:
            print(json.dumps({"level": "error", "msg": "prefetch: %s" % error}), flush=True)

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
    for step in range(1000):
        batch = batches.next()
        kit8.crunch(0.2)
        loss = star.mean(1 / (1 + batch))
        if rank == 0:
            print(json.dumps({"level": "info", "step": step, "loss": loss}), flush=True)


kit8.ranks(2, train, "NODE_NO")
