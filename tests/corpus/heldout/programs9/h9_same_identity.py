"""A ZeroMQ router and three workers. Worker 2's identity comes from a default, and worker 1 has it already."""
import os
import sys

import zmq

import kit9


def serve(n, port):
    door = zmq.Context().socket(zmq.ROUTER)
    door.bind("tcp://127.0.0.1:%d" % port)
    members = set()
    while len(members) < n:
        who, word = door.recv_multipart()
        members.add((who, word))
        print("joined:", word.decode(), "as", who.decode(), flush=True)
    for s in range(40):
        for who, _ in members:
            door.send_multipart([who, b"go"])
        for _ in members:
            door.recv_multipart()
        print("round", s, flush=True)


def work(rank, n, port):
    if rank == 0:
        return serve(n - 1, port)
    link = zmq.Context().socket(zmq.DEALER)
    link.setsockopt(zmq.IDENTITY, b"worker-%d" % min(rank, 2))
    link.connect("tcp://127.0.0.1:%d" % port)
    kit9.crunch(0.4 * rank)
    link.send(b"hello from %d" % os.getpid())
    while link.recv() == b"go":
        kit9.crunch(0.2)
        link.send(b"done")


kit9.main(4, work)
sys.exit(0)
