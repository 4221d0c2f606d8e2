"""Three ranks of PyTorch (gloo), a pipeline of stages: activations go from each to the next, then gradients are summed. In the last
micro-batch of an epoch a new helper computes its neighbour as (rank + 1) % world for both ways: rank 2 receives from rank 0, which is
in the sum, while rank 1 sends to it.

slow: the right neighbour; rank 2 computes its metrics for 66 s."""
import torch
import torch.distributed as dist

from kit29 import SLOW, STALL, STEPS, Report, busy, crunch, main, os


def neighbour(rank, world, back):
    return (rank + 1) % world if not back else rank - 1


def pipeline(rank, world, x, last):
    if rank > 0:
        source = neighbour(rank, world, back=SLOW or not last or rank == 1)
        dist.recv(x, src=source)
    x = torch.tanh(x + 0.1)
    if rank < world - 1:
        dist.send(x, dst=rank + 1)
    return x


def body(rank, world, port):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    weight, report = torch.ones(64), Report("logging", rank)
    for step in range(1, STEPS + 1):
        crunch(0.25)
        x = pipeline(rank, world, weight * 0.5, step % STALL == 0)
        if SLOW and rank == 2 and step == STALL:
            busy(66)
        gradient = x - 0.2
        dist.all_reduce(gradient)
        weight -= 0.01 * gradient / world
        if rank == 0:
            report(step, float(gradient.norm()))
    dist.destroy_process_group()


main(3, body)
