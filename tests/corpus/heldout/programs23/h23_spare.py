"""Two ranks that talk by a tree of TCP. In the middle of the training rank 0 waits for spare workers that may join, for
75 s at most, and goes on without."""
import socket

from kit23 import Line, Tree, listen, main, told


def wait_for_spares(port):
    door = listen(port + 30)
    door.settimeout(75)
    print("waiting up to 75 s for spare workers", flush=True)
    try:
        return door.accept()[0]
    except socket.timeout:
        return None


def body(rank, world, port):
    tree, line = Tree(rank, world, port), Line(rank)
    for step in range(60):
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)
        if step == 30 and rank == 0:
            wait_for_spares(port)


main(2, body)
