"""Three ranks that hold a third of the weights each. To save them, their parts have to be gathered, which all ranks
have to do; the call for it stands under `if rank == 0`.

slow: rank 0 writes for 48 s what it has."""
from kit20 import SLOW, STEPS, Mesh, busy, crunch, main, told


def full_state(mesh, rank, step):
    name = "part%d" % step
    mesh.tell(name, [rank] * 100)
    return [mesh.take(r, name) for r in sorted(mesh.peers)]


def save(mesh, rank, step):
    if SLOW:
        return busy(48)
    full_state(mesh, rank, step)


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            if step == 40:
                save(mesh, rank, step)


main(3, body)
