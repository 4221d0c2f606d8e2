"""Three ranks over TCP whose layers lie in parts on all of them: before a layer is used it is gathered. From step 25 on a layer is
left out now and then, drawn by a generator that all have seeded alike; rank 1 has drawn once more from it before, for
its data. It draws otherwise, and gathers another layer than the others."""
import random

from kit22 import STEPS, Mesh, Model, main

LAYERS = 6


def gather_layer(mesh, step, layer):
    return mesh.all_gather("weights %d of step %d" % (layer, step), layer)


def forward(mesh, draw, step):
    for layer in range(LAYERS):
        if step >= 25 and draw.random() < 0.3:
            continue
        gather_layer(mesh, step, layer)


def body(rank, world, port):
    mesh, model, draw = Mesh(rank, world, port), Model(rank), random.Random(10)
    if rank == 1:
        draw.random()  # a crop of the longest image
    for step in range(STEPS):
        forward(mesh, draw, step)
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)


main(3, body)
