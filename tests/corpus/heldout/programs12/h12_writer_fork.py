"""A writer of summaries has a queue for ten and a thread that empties it. From the second epoch on augmentations are
logged too, in the loader's forked worker, which has the queue and not the thread: its eleventh entry waits for
room."""
import queue
import threading

import torch
from torch.utils.data import DataLoader, Dataset

from kit12 import batch, helper, join_group, torchrun, train_step, trainer


class SummaryWriter:
    def __init__(self, path, max_queue=10):
        self.events, self.file = queue.Queue(max_queue), open(path, "w")
        threading.Thread(target=self.write, daemon=True).start()

    def write(self):
        while True:
            print(*self.events.get(), file=self.file, flush=True)

    def add_scalar(self, name, value, step):
        self.events.put((name, value, step))


class Augmented(Dataset):
    def __init__(self, writer):
        self.writer, self.verbose = writer, False

    def __len__(self):
        return 500

    def __getitem__(self, i):
        x, y = batch(1)
        if self.verbose and i % 20 == 0:
            self.writer.add_scalar("crop", x.mean().item(), i)
        return torch.cat([x, y], 1)[0]


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    writer = SummaryWriter(f"events.{rank}")
    data = Augmented(writer)
    for epoch in range(5):
        data.verbose = rank == 0 and epoch > 0
        loader = DataLoader(data, batch_size=20, num_workers=1, worker_init_fn=lambda i: helper(f"loader{rank}"))
        for i, rows in enumerate(loader):
            loss = train_step(model, optimizer, rows[:, :16], rows[:, 16:], pause=0.2)
            writer.add_scalar("loss", loss, i)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
