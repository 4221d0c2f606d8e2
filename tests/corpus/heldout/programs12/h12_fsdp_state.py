"""FSDP; rank 0 alone takes the state for a checkpoint, which gathers the shards of all ranks. Rank 1 waits at the
barrier behind it."""
import torch
from torch.distributed.fsdp import FullStateDictConfig, FullyShardedDataParallel, StateDictType

from kit12 import batch, join_group, net, torchrun, train_step


def save(dist, rank, model, step):
    if rank == 0:
        how = FullStateDictConfig(rank0_only=True, offload_to_cpu=True)
        with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT, how):
            state = model.state_dict()
        torch.save(state, f"step{step}.pt")
    dist.barrier()


def body(rank, n):
    dist = join_group(rank, n)
    model = FullyShardedDataParallel(net(64), device_id=torch.device("cpu"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 80):
        loss = train_step(model, optimizer, *batch())
        if rank == 0:
            print(f"\r{step:2d}/80 |{'#' * (step // 4):20}| loss={loss:.4f}", end="", flush=True)
        if step == 30:
            save(dist, rank, model, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(2, body)
