"""Metrics are summed in the order in which a rank has met them first. Rank 1 has met the lists before the numbers: it
gathers while rank 0 reduces."""
import torch

from kit12 import batch, by_hand, join_group, train_step, trainer


def reduce_scalar(dist, value):
    total = torch.tensor([float(value)])
    dist.all_reduce(total)
    return total.item()


def gather_list(dist, values, n):
    parts = [torch.zeros(8) for _ in range(n)]
    dist.all_gather(parts, torch.tensor(values))
    return torch.cat(parts)


def sync_metrics(dist, metrics, n):
    out = {}
    for name, value in metrics.items():
        out[name] = gather_list(dist, value, n) if isinstance(value, list) else reduce_scalar(dist, value)
    return out


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for epoch in range(4):
        metrics = {}
        for step in range(10):
            loss = train_step(model, optimizer, *batch())
            if rank == 1 and epoch == 2:
                metrics.setdefault("histogram", [0.0] * 8)[step % 8] += 1
            metrics["loss"] = metrics.get("loss", 0) + loss
            metrics.setdefault("histogram", [0.0] * 8)[step % 8] += 1
        got = sync_metrics(dist, metrics, n)
        if rank == 0:
            print("epoch", epoch, "loss", round(got["loss"], 4), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    by_hand(2, body)
