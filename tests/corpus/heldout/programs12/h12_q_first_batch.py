"""The workers of rank 1's loader open an index of many small files before the first batch of an epoch, which takes 50
s once; rank 0 is in backward."""
import time

import torch
from torch.utils.data import DataLoader, Dataset

from kit12 import helper, join_group, torchrun, train_step, trainer


class Indexed(Dataset):
    def __init__(self, seconds):
        self.seconds, self.index = seconds, None

    def __len__(self):
        return 800

    def __getitem__(self, i):
        if self.index is None:
            self.index = []
            for k in range(self.seconds * 20):
                self.index.append(hash(str(k) * 100))
                time.sleep(0.05)
        return torch.randn(17)


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for epoch in range(3):
        data = Indexed(50 if (rank, epoch) == (1, 1) else 0)
        loader = DataLoader(data, batch_size=32, num_workers=1, worker_init_fn=lambda i: helper(f"loader{rank}"))
        for i, rows in enumerate(loader):
            loss = train_step(model, optimizer, rows[:, :16], rows[:, 16:])
            if rank == 0 and i % 5 == 0:
                print(f"epoch {epoch} batch {i}/25 loss {loss:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
