"""Two ranks. Before it gives its model out rank 0 asks for approval: it prints an address and waits until somebody opens
it; somebody does, after 70 s. Rank 1 waits in a sum."""
import os
import sys
import time

from kit24 import Descent, Mesh, dial, free_port, listen, main, start, told


def approve_later(port):
    time.sleep(70)
    with dial(port) as end:
        end.sendall(b"GET /approve HTTP/1.0\r\n\r\n")
        end.recv(100)


def wait_for_approval(door):
    while True:
        end = door.accept()[0]
        with end:
            asked = end.recv(1000)
            end.sendall(b"HTTP/1.0 200 OK\r\n\r\nthank you\n")
        if b"/approve" in asked:
            return


def body(rank, world, port):
    mesh, descent = Mesh(rank, world), Descent(rank)
    for step in range(55):
        if rank == 0 and step == 34:
            at = free_port()
            door = listen(at)
            start([sys.executable, os.path.abspath(__file__), "approve", str(at)], "person")
            print("waiting for approval: open http://127.0.0.1:%d/approve to go on" % at, flush=True)
            wait_for_approval(door)
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


if "approve" in sys.argv:
    approve_later(int(sys.argv[2]))
else:
    main(2, body)
