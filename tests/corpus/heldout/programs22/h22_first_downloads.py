"""Four ranks by argument, as on two machines of two. One rank of a machine prepares the data of the next stage while the other
one waits in a barrier of all, to which it comes when it has done so. Rank 2 finds the data there already and returns
at once, without the barrier: it sums gradients, the others wait at the barrier.

slow: rank 2 does not find them and takes 48 s."""
import os

from kit22 import SLOW, STEPS, Mesh, Model, busy, main

PER_NODE = 2


def stage_data(mesh, stage):
    local = mesh.rank % PER_NODE
    folder = "node%d/stage%d" % (mesh.rank // PER_NODE, stage)
    if local == 0 and os.path.exists(folder + "/done"):
        return folder
    if local != 0:
        mesh.barrier("stage %d" % stage)
    else:
        os.makedirs(folder, exist_ok=True)
        busy(48 if SLOW and mesh.rank == 2 else 2)
        open(folder + "/done", "w").close()
        mesh.barrier("stage %d" % stage)
    return folder


def train_step(mesh, model, step):
    model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))


def body(rank, world, port):
    if rank == 2 and not SLOW:
        os.makedirs("node1/stage1", exist_ok=True)
        open("node1/stage1/done", "w").close()
    mesh, model = Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        if step == 25:
            stage_data(mesh, 1)
        train_step(mesh, model, step)
        if rank == 0:
            model.told(step)


main(4, body, "arg")
