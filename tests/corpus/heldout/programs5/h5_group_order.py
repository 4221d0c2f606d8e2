"""Two groups with links of their own. Gradients of both are reduced in the order of a set, which on rank 2 is another one."""
import kit5
from kit4 import Hub


def train(rank, world, port):
    groups = {"encoder": Hub(rank, world, port), "decoder": Hub(rank, world, port + 50)}
    for step in range(1000):
        kit5.crunch(0.2)
        names = ["encoder", "decoder"]
        if rank == 2 and step > 10:
            names = list({"decoder": 1, "encoder": 1})  # since a layer was frozen and thawed again
        for name in names:
            groups[name].reduce(0.1)
        if rank == 1:
            print("step", step, flush=True)


kit5.ranks(4, train)
