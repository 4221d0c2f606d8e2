"""The barrier after a checkpoint stands one level too deep, in the branch of rank 0. The others are in the next
step."""
import torch

from kit12 import batch, join_group, net, torchrun, train_step, trainer


def save_checkpoint(dist, rank, model, optimizer, step):
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, "last.pt")
        dist.barrier()


def body(rank, n):
    dist = join_group(rank, n)
    model, optimizer = trainer(net(64))
    for step in range(1, 100):
        loss = train_step(model, optimizer, *batch())
        if rank == 0:
            print(f"\r{step:3d}/100 |{'#' * (step // 5):20}| loss={loss:.4f}", end="", flush=True)
        if step % 20 == 0:
            save_checkpoint(dist, rank, model, optimizer, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(4, body)
