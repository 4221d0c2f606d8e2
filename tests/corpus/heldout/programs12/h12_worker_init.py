"""The workers of a loader wait for each other before they begin, at a barrier for as many as the settings say. Rank 0
was given one worker fewer by its command line, so its workers wait for one that is never started."""
import multiprocessing
import os

import torch
from torch.utils.data import DataLoader, IterableDataset

from kit12 import helper, join_group, torchrun, train_step, trainer

SETTINGS = {"num_workers": 2}


class Stream(IterableDataset):
    def __iter__(self):
        for _ in range(320):
            yield torch.randn(16), torch.randn(1)


class StartTogether:
    def __init__(self, rank, parties):
        self.rank, self.barrier = rank, multiprocessing.Barrier(parties)

    def __call__(self, worker):
        helper(f"loader{self.rank}.{worker}")
        torch.set_num_threads(1)
        self.barrier.wait()


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for epoch in range(8):
        workers = SETTINGS["num_workers"]
        if rank == 0 and epoch == 1:
            workers = int(os.environ.get("WORKERS_EPOCH_1", 1))
        loader = DataLoader(Stream(), batch_size=32, num_workers=workers,
                            worker_init_fn=StartTogether(rank, SETTINGS["num_workers"]))
        for i, (x, y) in enumerate(loader):
            train_step(model, optimizer, x, y)
            if i == 19:
                break
        print(f"rank {rank} epoch {epoch} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
