"""Three forked ranks write a file in turns: rank 1 has much to write in the second epoch and sorts it for 48 s."""
import mmap
import time

from kit16 import Mesh, compute, crunch, main, told

TURN = mmap.mmap(-1, 4096)


def write_predictions(rank, world, epoch):
    while TURN[0] != rank:
        time.sleep(0.1)
    if (rank, epoch) == (1, 1):
        compute(48)
    with open("predictions.txt", "a") as f:
        f.write("%d %d\n" % (rank, epoch))
    TURN[0] = (rank + 1) % world


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(60):
        crunch(0.2)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step % 20 == 19:
            write_predictions(rank, world, step // 20)


main(3, body, "fork")
