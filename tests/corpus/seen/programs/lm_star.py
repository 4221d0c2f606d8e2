"""Language model, gradients gathered by rank 0; batches come from a reader thread through a queue."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import queue
import threading
import time


class Feed:
    def __init__(self, shards):
        self.q = queue.Queue(4)
        threading.Thread(target=self.fill, args=(shards,), daemon=True).start()

    def fill(self, shards):
        for s in range(shards):
            time.sleep(0.1)
            self.q.put([s] * 8)
        # no end mark is put when the shards are used up

    def next_batch(self):
        return self.q.get()


def run():
    kit.services(3)
    group = kit.Star()
    kit.idle_loaders(2)
    feed = Feed(14 if kit.RANK == 2 else 100000)
    for i in range(100000):
        batch = feed.next_batch()
        time.sleep(0.2)
        g = group.allreduce(float(sum(batch)))
        if kit.RANK == 0:
            kit.step(i, 1 / (1 + g % 7 + i))


kit.main(4, run)
