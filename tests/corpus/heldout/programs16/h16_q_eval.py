"""Three ranks in a mesh; rank 0 evaluates for 50 s after step 30, the others wait for its next gradient."""
from kit16 import Mesh, compute, crunch, main, told


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(60):
        crunch(0.2)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
            if step == 30:
                compute(50)


main(3, body)
