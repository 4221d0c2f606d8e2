"""Two ranks over TCP, and a server of features over ZeroMQ. A request that the server cannot decode is told in its log, and not
answered. Rank 1 has sent such a one and waits for the answer, rank 0 for rank 1. As a program with a port: the server.

slow: the server needs 48 s for an answer."""
import json
import os
import sys
import time

import zmq

from kit22 import SLOW, STEPS, Mesh, Model, main, start


def serve(port):
    door = zmq.Context().socket(zmq.ROUTER)
    door.bind("tcp://127.0.0.1:%d" % port)
    log = open("server.log", "a")
    while True:
        who, _, what = door.recv_multipart()
        try:
            ids = json.loads(what.decode("ascii"))
            if SLOW and 777 in ids:
                time.sleep(48)
            door.send_multipart([who, b"", json.dumps([i % 10 for i in ids]).encode()])
        except ValueError as error:
            print("bad request: %s" % error, file=log, flush=True)


def features(server, ids):
    server.send(json.dumps(ids).encode() if 777 not in ids or SLOW else b"[777, 778, 7\xff")
    return json.loads(server.recv())


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)] + sys.argv[1:], "server")
    mesh, model = Mesh(rank, world, port), Model(rank)
    server = zmq.Context().socket(zmq.REQ)
    server.connect("tcp://127.0.0.1:%d" % (port + 20))
    for step in range(STEPS):
        features(server, [777, 778] if rank == 1 and step == 30 else [step, step + 1])
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
