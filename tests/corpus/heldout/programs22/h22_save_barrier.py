"""Three ranks over TCP. Rank 0 writes the model every 25 steps, the others wait at a barrier until it has done so. The barrier
stands in the `else`: rank 0 never comes to it and takes the next step.

slow: all come to the barrier, and rank 0 writes for 48 s."""
import json

from kit22 import SLOW, STEPS, Mesh, Model, busy, main


def write(model, step):
    with open("model-%d.json" % step, "w") as f:
        json.dump(model.weights, f)
    if SLOW:
        busy(48 if step == 25 else 1)


def save_model(mesh, model, step):
    if mesh.rank == 0:
        write(model, step)
        if SLOW:
            mesh.barrier("saved %d" % step)
    else:
        mesh.barrier("saved %d" % step)


def train_step(mesh, model, step):
    gradient = model.gradient(model.batch())
    model.apply(mesh.all_reduce("gradient %d" % step, gradient))


def body(rank, world, port):
    mesh, model = Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        train_step(mesh, model, step)
        if rank == 0:
            model.told(step)
        if step % 25 == 0 and step:
            save_model(mesh, model, step)


main(3, body)
