"""Each rank reads the shards that it was given. Rank 2's have three batches fewer, and nobody has put the loop into
join(): rank 2 is in the barrier after the epoch while the others wait in backward for its gradients."""
import time

from kit12 import batch, join_group, torchrun, train_step, trainer

BATCHES = [30, 30, 27]


def train_epoch(rank, model, optimizer):
    for i in range(BATCHES[rank]):
        loss = train_step(model, optimizer, *batch())
        if rank == 0 and i % 5 == 0:
            print(f"epoch 0 [{i}/{BATCHES[rank]}] loss {loss:.4f}", flush=True)


def end_of_epoch(dist):
    dist.barrier()


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer()
    train_epoch(rank, model, optimizer)
    end_of_epoch(dist)
    time.sleep(1)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
