"""Rank 0 reads the settings of each epoch and sends them to all. Those of epoch 3 were never written; it looks for
them every few seconds, without a word and without an end."""
import json
import os
import time

from kit12 import batch, join_group, torchrun, train_step, trainer


def read_settings(epoch):
    path = f"settings.epoch{epoch}.json"
    while not os.path.exists(path):
        time.sleep(2)
    return json.load(open(path))


def share_settings(dist, rank, epoch):
    box = [read_settings(epoch) if rank == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def body(rank, n):
    if rank == 0:
        for epoch in range(3):
            json.dump({"lr": 0.01 / (1 + epoch)}, open(f"settings.epoch{epoch}.json", "w"))
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for epoch in range(6):
        optimizer.param_groups[0]["lr"] = share_settings(dist, rank, epoch)["lr"]
        for step in range(12):
            train_step(model, optimizer, *batch())
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
