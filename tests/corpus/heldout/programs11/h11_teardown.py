"""Four ranks in groups of two, tensor and data parallel. Each closes its groups in the order in which it made them, with a barrier within the group.
Ranks 1 and 2 made them the other way round: at the end 0 waits for 1, 1 for 3, 3 for 2 and 2 for 0."""
from kit11 import Mesh, crunch, ranks


def pair(mesh, other, tag, x):
    mesh.put(other, tag, x)
    return x + mesh.get(other, tag)


def make_groups(rank):
    tensor, data = ("tensor", rank ^ 1), ("data", rank ^ 2)
    return [tensor, data] if rank in (0, 3) else [data, tensor]


def body(rank, n, port):
    mesh, groups = Mesh(rank, n, port), make_groups(rank)
    for step in range(50):
        crunch(0.15)
        total = 1.0
        for name, other in sorted(groups):
            total = pair(mesh, other, "%s-%d" % (name, step), total)
        if rank == 3:
            print("| step %3d | tokens %d |" % (step, total), flush=True)
    for name, other in groups:
        pair(mesh, other, "destroy-" + name, 0)


ranks(4, body, "pmi")
