"""Each rank stops by the loss of its own validation set. Rank 2 has no patience left and waits in the store for the
word of the others that they are done; they are in backward."""
from kit12 import batch, join_group, spawn, train_step, trainer


def wait_for_the_others(store, rank, n):
    store.set(f"done/{rank}", "1")
    store.wait([f"done/{r}" for r in range(n)])


def body(rank, n):
    dist = join_group(rank, n)
    store = dist.distributed_c10d._get_default_store()
    model, optimizer = trainer()
    best, patience = 1e9, 3
    for epoch in range(20):
        for _ in range(6):
            train_step(model, optimizer, *batch())
        validation = 1 / (1 + epoch) if rank != 2 else 0.3 + 0.01 * epoch
        patience = 3 if validation < best else patience - 1
        best = min(best, validation)
        print(f"rank {rank} epoch {epoch} val_loss {validation:.4f} patience {patience}", flush=True)
        if patience == 0:
            break
    wait_for_the_others(store, rank, n)
    dist.destroy_process_group()


if __name__ == "__main__":
    spawn(3, body)
