"""Asks a process over ZeroMQ; one request is a matrix that takes 62 s."""
import sys
import time

import numpy as np
import zmq

import kit7


def solve(address):
    reply, a = zmq.Context().socket(zmq.REP), np.ones((200, 200))
    reply.bind(address)
    while True:
        end = time.time() + float(reply.recv())
        while time.time() < end:
            a = np.linalg.qr(a + np.eye(200))[0]
        reply.send(b"solved")


if sys.argv[1:]:
    solve(sys.argv[1])
kit7.role("main")
address = "tcp://127.0.0.1:%d" % kit7.free_port()
kit7.start([sys.executable, __file__, address], "solver")
ask = zmq.Context().socket(zmq.REQ)
ask.connect(address)
for n in range(20):
    ask.send(b"62" if n == 10 else b"0.2")
    ask.recv()
    print("solved %d of 20" % (n + 1), flush=True)
