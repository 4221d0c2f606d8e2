"""Two ranks. Rank 1 asks a service for features over ZeroMQ, computes, and then takes the answers; it waits with select at
the socket's descriptor, which tells of a change once, and takes one message each time. When it asks for two features
both answers are there at the first look, and there is no second change.

slow: it asks the socket before it waits, and one feature takes 48 s."""
import os
import select
import sys

import zmq

from kit24 import SLOW, STEPS, Descent, Mesh, busy, main, start, told


def serve():
    door = zmq.Context().socket(zmq.ROUTER)
    door.bind("ipc://service")
    while True:
        who, key = door.recv_multipart()
        if SLOW and key == b"32":
            busy(48)
        door.send_multipart([who, key + b"!"])


def collect(end, count):
    got = []
    while len(got) < count:
        if SLOW and end.getsockopt(zmq.EVENTS) & zmq.POLLIN:
            got.append(end.recv())
            continue
        select.select([end.getsockopt(zmq.FD)], [], [])
        if not SLOW:
            got.append(end.recv())
    return got


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve"] + sys.argv[1:], "service")
    mesh, descent = Mesh(rank, world), Descent(rank)
    if rank == 1:
        end = zmq.Context().socket(zmq.DEALER)
        end.connect("ipc://service")
        end.send(b"ready")
        end.recv()
    for step in range(STEPS):
        keys = [] if step % 4 else [step] if step < 32 and not SLOW else [step, step + 1]
        if rank == 1:
            for key in keys:
                end.send(b"%d" % key)
        slope = descent.slope()
        if rank == 1:
            collect(end, len(keys))
        descent.follow(mesh.mean("gradient %d" % step, slope))
        if rank == 0:
            told(step, descent.loss)


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
