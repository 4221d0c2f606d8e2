"""A torch training loop with DataLoader workers, one of whose data sets keeps every sample on the first attempt.

torch_train.py FOLDER [--leak-mib-per-sample N] [--steps N]
"""
import argparse
import os
import pathlib

import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __init__(self, length, leak_mib):
        self.length, self.leak_mib, self.kept = length, leak_mib, []

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.leak_mib and torch.utils.data.get_worker_info().id == 0:
            self.kept.append(torch.ones(self.leak_mib << 18))  # 4 bytes each
        sample = torch.randn(32, generator=torch.Generator().manual_seed(index))
        return sample, (sample.sum() > 0).long()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--leak-mib-per-sample", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    first = int(os.environ.get("RESTART_COUNT", "0")) == 0
    data = DataLoader(Noise(args.steps * 16, args.leak_mib_per_sample if first else 0), batch_size=16, num_workers=2)
    model = torch.nn.Linear(32, 2)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(data):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    torch.save(model.state_dict(), args.folder / "model.pt")
    print("trained", flush=True)


if __name__ == "__main__":
    main()
