"""A torch training loop that goes on, with two DataLoader workers whose data set has work to do."""
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        return self.make(index)

    def make(self, index):
        noise = torch.randn(300, 300, generator=torch.Generator().manual_seed(index))
        return (noise @ noise @ noise @ noise)[:64, :64]


def step(model, optimiser, x):
    optimiser.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimiser.step()


def main():
    torch.set_num_threads(2)
    model = torch.nn.Linear(64, 64)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, x in enumerate(DataLoader(Noise(), batch_size=16, num_workers=2, pin_memory=False)):
        step(model, optimiser, x)
        if number == 3:
            print("begun", flush=True)


if __name__ == "__main__":
    main()
