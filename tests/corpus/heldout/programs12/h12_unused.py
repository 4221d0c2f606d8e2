"""Two heads; the second counts only for samples that have boxes. In the last step of an epoch rank 1 has none, and
find_unused_parameters is off: its half of the gradients is never reduced. It is in the barrier after the epoch, rank
0 is in backward."""
import time

import torch
from torch import nn

from kit12 import join_group, torchrun


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(16, 400)
        self.classes = nn.Linear(400, 10)
        self.boxes = nn.Sequential(nn.Linear(400, 800), nn.ReLU(), nn.Linear(800, 4))

    def forward(self, x, with_boxes):
        h = self.body(x).relu()
        loss = self.classes(h).square().mean()
        return loss + self.boxes(h).abs().mean() if with_boxes else loss


def train_epoch(rank, ddp, optimizer, epoch):
    for i in range(20):
        time.sleep(0.15)
        has_boxes = not (rank == 1 and epoch == 1 and i == 19)
        optimizer.zero_grad()
        loss = ddp(torch.randn(32, 16), has_boxes)
        loss.backward()
        optimizer.step()
    print(f"rank {rank} epoch {epoch} loss {loss.item():.4f}", flush=True)


def body(rank, n):
    dist = join_group(rank, n)
    ddp = nn.parallel.DistributedDataParallel(Detector(), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.01)
    for epoch in range(6):
        train_epoch(rank, ddp, optimizer, epoch)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
