"""A thread of rank 1 makes batches ready and sets a future for each. It has met a sample without a label and has
ended; rank 1 waits for the future of the next batch, rank 0 for rank 1."""
import queue
import threading
import time

import torch

from kit12 import batch, by_hand, join_group, train_step, trainer


class Prefetcher:
    def __init__(self, bad):
        self.wanted, self.bad = queue.Queue(), bad
        threading.excepthook = lambda info: None
        threading.Thread(target=self.fill, daemon=True, name="prefetch").start()

    def fill(self):
        for i in range(10 ** 6):
            future = self.wanted.get()
            time.sleep(0.1)
            sample = {"x": batch(), "label": i} if i != self.bad else {"x": batch()}
            sample["label"] += 1
            future.set_result(sample["x"])

    def next(self):
        future = torch.futures.Future()
        self.wanted.put(future)
        return future


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    source = Prefetcher(bad=33 if rank == 1 else -1)
    for step in range(100):
        x, y = source.next().wait()
        train_step(model, optimizer, x, y, pause=0.02)
    dist.destroy_process_group()


if __name__ == "__main__":
    by_hand(2, body)
