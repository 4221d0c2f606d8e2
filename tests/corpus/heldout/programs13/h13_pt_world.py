"""The script asks for four ranks, as it did on the larger machine (SLURM_NTASKS); three are started here. They wait in
init_process_group for rank 3, which nobody starts."""
from kit13 import batch, by_hand, join_group, train_step, trainer


def body(rank, n):
    print(f"[rank {rank}/{n}] initializing process group", flush=True)
    dist = join_group(rank, n)
    model, optimizer = trainer()
    for step in range(100):
        train_step(model, optimizer, *batch())
    dist.destroy_process_group()


if __name__ == "__main__":
    by_hand(3, body, world=4)
