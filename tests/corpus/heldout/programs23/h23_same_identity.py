"""Three ranks that talk by a tree of TCP, and a store of features over ZeroMQ. Clients name themselves by their
machine. From step 30 on rank 2 asks as well as rank 1, under the same name: the store's socket does not take a second
one of a name, and rank 2 waits for its answer. As a program with a port: the store."""
import json
import os
import sys

import zmq

from kit23 import STEPS, Line, Tree, main, start, told


def serve(port):
    door = zmq.Context().socket(zmq.ROUTER)
    door.bind("tcp://127.0.0.1:%d" % port)
    while True:
        who, what = door.recv_multipart()
        door.send_multipart([who, json.dumps([i % 7 for i in json.loads(what)]).encode()])


def connect(port):
    store = zmq.Context().socket(zmq.DEALER)
    store.setsockopt(zmq.IDENTITY, b"trainer@node-0")
    store.connect("tcp://127.0.0.1:%d" % port)
    return store


def features(store, ids):
    store.send(json.dumps(ids).encode())
    return json.loads(store.recv())


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)], "store")
    tree, line, store = Tree(rank, world, port), Line(rank), None
    for step in range(STEPS):
        if rank == 1 or rank == 2 and step >= 30:
            store = store or connect(port + 20)
            features(store, [step, step + 1])
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(3, body)
