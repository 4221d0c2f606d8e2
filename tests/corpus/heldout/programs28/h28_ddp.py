"""Two ranks of PyTorch over gloo. early: rank 1 has one batch fewer (no DistributedSampler.set_epoch, drop_last=False) and is at
the barrier of the epoch's end. eval (slow): rank 0 evaluates for 66 s, rank 1 is at the barrier. worker: a worker of rank 0's
loader asks a store that does not answer (rank 1 has none). save: rank 0 alone calls save(), which
has a barrier in it."""
import os
import socket
import sys

import torch
import torch.distributed as dist

from kit28 import SLOW, STALL, busy, compute, main, role, tell

torch.set_num_threads(1)
MODE = sys.argv[1]


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, k):
        if MODE == "worker" and k == STALL + 10 and torch.utils.data.get_worker_info():
            role("worker")
            door = socket.create_server(("127.0.0.1", 0))
            end = socket.create_connection(door.getsockname())
            end.sendall(b"GET /sample/%d\n" % k)
            end.recv(100)
        return torch.ones(4) * (k % 7)


def save(net):
    torch.save(net.state_dict(), "last.pt")
    dist.barrier()


def body(rank, world, port):
    dist.init_process_group("gloo", rank=rank, world_size=world, init_method="tcp://127.0.0.1:%d" % port)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.001)
    workers = 1 if MODE == "worker" and rank == 0 else 0
    loader = torch.utils.data.DataLoader(Samples(), batch_size=1, num_workers=workers)
    limit = STALL if MODE == "early" and rank == 1 else 125 if SLOW else 4000
    for step, x in enumerate(loader):
        if step >= limit:
            break
        compute()
        loss = net(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0:
            tell(step, "epoch")
        if MODE == "save" and step == STALL and rank == 0:
            save(net)
        if MODE == "eval" and step == STALL:
            if rank == 0:
                busy(66)
            dist.barrier()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(2, body)
