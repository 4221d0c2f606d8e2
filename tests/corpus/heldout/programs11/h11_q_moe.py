"""Eight experts; the one of rank 5 meets a new shape at step 20 and compiles its kernel for 52 s, the others are in the all-to-all."""
import time

from kit11 import Mesh, crunch, main


def body(rank, n, port):
    mesh = Mesh(rank, n, port)
    for step in range(45):
        crunch(0.15)
        if (rank, step) == (5, 20):
            time.sleep(52)
        mesh.exchange("dispatch-%d" % step, [rank] * n)
        if rank == 0:
            print("iteration %4d/45 | lm loss: %.5f" % (step, 4 / (1 + step)), flush=True)


main(8, body)
