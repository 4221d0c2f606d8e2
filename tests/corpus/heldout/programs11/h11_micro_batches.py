"""A pipeline of four stages, all forward passes before all backward ones. The number of micro-batches grows after some steps; the
configuration on the node of stage 2 says eight instead of six from step 15 on, so it waits for a seventh that stage 1 does not send."""
from kit11 import Mesh, crunch, main

STEPS = 200


def micro_batches(stage, step):
    ramp = {2: (4, 8)}.get(stage, (4, 6))
    return ramp[step >= 15]


def train_batch(mesh, stage, last, step):
    n = micro_batches(stage, step)
    for m in range(n):
        x = mesh.get(stage - 1, "act") if stage else [float(m)]
        crunch(0.02)
        if stage < last:
            mesh.put(stage + 1, "act", x)
    for m in range(n):
        g = mesh.get(stage + 1, "grad") if stage < last else [1.0]
        crunch(0.02)
        if stage:
            mesh.put(stage - 1, "grad", g)
    return n


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(STEPS):
        n = train_batch(mesh, rank, world - 1, step)
        if rank == world - 1:
            print("steps: %d loss: %.4f micro_batches: %d" % (step, 3 / (step + 1), n), flush=True)


main(4, body)
