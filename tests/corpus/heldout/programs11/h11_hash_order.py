"""The names of parameters with a gradient are collected in a set, and reduced in its order, name by name. The order of a set of strings
follows the hash seed of its interpreter: every rank waits for another name."""
import os
import sys

from kit11 import Mesh, crunch, ranks

SEEDS = ["3", "8", "21"]


class Model:
    def __init__(self):
        self.grads = {"%s.%s" % (m, p): 0.1 for m in ("embed", "attn", "mlp", "norm") for p in ("weight", "bias")}


def reduce_grads(mesh, model, step):
    with_grad = {name for name, g in model.grads.items() if g}
    for name in with_grad:
        model.grads[name] = mesh.reduce("%s@%d" % (name, step), model.grads[name]) / mesh.n


def body(rank, n, port):
    if "PYTHONHASHSEED" not in os.environ:
        os.environ["PYTHONHASHSEED"] = SEEDS[rank]
        os.execv(sys.executable, [sys.executable, *sys.argv])
    mesh, model = Mesh(rank, n, port), Model()
    for step in range(100):
        crunch(0.2)
        reduce_grads(mesh, model, step)
        if rank == 0:
            print("step", step, flush=True)


ranks(3, body, "ompi")
