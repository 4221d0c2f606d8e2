"""Three forked ranks write their predictions into one file, one after the other: a number in shared memory says whose
turn it is. Rank 1 has nothing to write in the third epoch and leaves the function without giving its turn on. Rank 2
waits for its turn, the others for rank 2."""
import mmap
import time

from kit16 import Mesh, crunch, main, told

TURN = mmap.mmap(-1, 4096)


def predictions(rank, epoch):
    return [] if (rank, epoch) == (1, 2) else ["%d %d\n" % (rank, k) for k in range(40)]


def write_predictions(rank, world, epoch):
    lines = predictions(rank, epoch)
    if not lines:
        return
    while TURN[0] != rank:
        time.sleep(0.1)
    with open("predictions.txt", "a") as f:
        f.writelines(lines)
    TURN[0] = (rank + 1) % world


def body(rank, world, port):
    mesh = Mesh(rank, world, port)
    for step in range(300):
        crunch(0.15)
        mesh.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step % 20 == 19:
            write_predictions(rank, world, step // 20)


main(3, body, "fork")
