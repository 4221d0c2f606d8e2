"""Two ranks over TCP. Each names the folder of the run by the time of its own start, which is another second in rank 1. Rank 0
writes an index for hard examples to its folder at step 30 and goes on; rank 1 looks for the index in a folder of its own.

slow: both have the name from one variable, and rank 0 takes 48 s to make the index."""
import json
import os
import time

from kit22 import SLOW, STEPS, Mesh, Model, busy, main


def run_folder(rank):
    time.sleep(1.3 * rank)
    name = "shared" if SLOW else time.strftime("%Y%m%d-%H%M%S")
    os.makedirs("runs/" + name, exist_ok=True)
    return "runs/" + name


def hard_examples(folder, rank):
    path = folder + "/hard_examples.json"
    if rank == 0:
        if SLOW:
            busy(48)
        with open(path + ".part", "w") as f:
            json.dump([4, 8, 15], f)
        os.rename(path + ".part", path)
    while not os.path.exists(path):
        time.sleep(0.5)
    with open(path) as f:
        return json.load(f)


def body(rank, world, port):
    folder, mesh, model = run_folder(rank), Mesh(rank, world, port), Model(rank)
    for step in range(STEPS):
        if step == 30:
            hard_examples(folder, rank)
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)


main(2, body)
