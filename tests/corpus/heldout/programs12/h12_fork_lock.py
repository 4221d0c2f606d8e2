"""A thread writes the cache of samples out after each epoch, under a lock. On rank 1 it is writing while the workers
of the next epoch are forked: in them the lock is taken for ever."""
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from kit12 import batch, helper, join_group, torchrun, train_step, trainer


class Cached(Dataset):
    def __init__(self, slow):
        self.lock, self.samples, self.slow = threading.Lock(), {}, slow
        self.dirty = threading.Event()
        threading.Thread(target=self.write_back, daemon=True).start()

    def write_back(self):
        while True:
            self.dirty.wait()
            self.dirty.clear()
            with self.lock:
                time.sleep(4 if self.slow else 0.01)

    def __len__(self):
        return 640

    def __getitem__(self, i):
        with self.lock:
            if i not in self.samples:
                self.samples[i] = torch.cat([t[0] for t in batch(1)])
            return self.samples[i]


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    data = Cached(slow=rank == 1)
    loader = DataLoader(data, batch_size=32, num_workers=1, worker_init_fn=lambda i: helper(f"loader{rank}"))
    for epoch in range(10):
        for i, rows in enumerate(loader):
            train_step(model, optimizer, rows[:, :16], rows[:, 16:])
            if i % 10 == 0:
                print(f"rank {rank} epoch {epoch} batch {i}", flush=True)
        data.dirty.set()
        time.sleep(0.5)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
