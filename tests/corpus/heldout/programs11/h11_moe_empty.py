"""A mixture of experts on eight ranks. Which expert gets how many tokens is drawn from one seed, so all know it. An expert without tokens
has "nothing to exchange" and leaves the all-to-all out, which happens first to the expert of rank 5."""
import random

from kit11 import Mesh, crunch, main

EXPERTS, TOKENS = 8, 96


def route(draw):
    load = [0] * EXPERTS
    for _ in range(TOKENS):
        load[draw.choices(range(EXPERTS), [9, 8, 9, 7, 8, 2, 9, 8])[0]] += 1
    return load


def body(rank, n, port):
    mesh, draw = Mesh(rank, n, port), random.Random(9)
    for step in range(500):
        load = route(draw)
        crunch(0.12)
        if load[rank] > 0:
            mesh.exchange("dispatch-%d" % step, ["t" * load[r] for r in range(n)])
            crunch(0.03)
            mesh.exchange("combine-%d" % step, ["h" * load[rank]] * n)
        aux = mesh.reduce("aux-%d" % step, load[rank] ** 2 / TOKENS)
        if rank == 0:
            print("iteration %4d/500 | lm loss: %.5f | moe aux: %.4f" % (step, 4 / (1 + step / 20), aux), flush=True)


main(8, body)
