"""Three ranks over TCP. Each keeps its best weights in a folder of its own, under a name that is free. Where the name is taken
a number is counted up which is not in the name: rank 1, whose folder has a file of the run before, looks for ever.

slow: the number is in the name, and rank 1 looks through the old files for 48 s."""
import json
import os

from kit22 import SLOW, STEPS, Mesh, Model, busy, main


def free_name(folder, step):
    version, path = 1, "%s/best-step%d.json" % (folder, step)
    while os.path.exists(path):
        version += 1
        name = "best-step%d-v%d" % (step, version) if SLOW else "best-step%d" % step
        path = "%s/%s.json" % (folder, name)
    return path


def keep_best(folder, model, step, rank):
    path = free_name(folder, step)
    if SLOW and rank == 1 and step == 30:
        busy(48)
    with open(path, "w") as f:
        json.dump(model.weights, f)


def body(rank, world, port):
    folder = "weights-%d" % rank
    os.makedirs(folder, exist_ok=True)
    if rank == 1:
        open(folder + "/best-step30.json", "w").close()
    mesh, model, best = Mesh(rank, world, port), Model(rank), 100.0
    for step in range(STEPS):
        loss = mesh.all_reduce("loss %d" % step, model.loss)
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)
        if step % 10 == 0 and loss < best:
            best = loss + 1
            keep_best(folder, model, step, rank)


main(3, body)
