"""Three stages. The first reads its next shard for 50 s, the others wait in recv for activations."""
import time

import torch

from kit12 import join_group, torchrun


def read_shard(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        torch.randn(1000).sort()
        time.sleep(0.1)


def body(rank, n):
    dist = join_group(rank, n)
    layer, x = torch.nn.Linear(64, 64), torch.zeros(8, 64)
    with torch.no_grad():
        for micro in range(160):
            time.sleep(0.1)
            if rank == 0:
                if micro % 40 == 0:
                    read_shard(50 if micro == 80 else 0.5)
                x = torch.randn(8, 64)
            else:
                dist.recv(x, src=rank - 1)
            x = layer(x).relu()
            if rank < n - 1:
                dist.send(x, dst=rank + 1)
            elif micro % 20 == 0:
                print("micro-batch", micro, f"{x.mean():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
