"""A trainer hands out tasks through a ROUTER socket of ZeroMQ to two workers, whose names it has learned at the start.
Worker 1 opens its socket anew after 40 tasks, with a new name. The trainer sends the next task to the old one: ROUTER
drops what goes to a name that it does not know. The trainer waits for the result, the worker for a task.

slow: worker 1 works for 48 s instead."""
import sys

import zmq
from kit18 import SLOW, STEPS, again, busy, crunch, free_port, me, role, start, told


def work(number, port):
    me("worker%d" % number)
    context, generation, done = zmq.Context(), 0, 0
    while True:
        socket = context.socket(zmq.DEALER)
        socket.setsockopt(zmq.IDENTITY, b"worker-%d.%d" % (number, generation))
        socket.connect("tcp://127.0.0.1:%d" % port)
        socket.send(b"hello")
        while number != 1 or SLOW or done != 40:
            task = socket.recv()
            if task == b"end":
                return
            crunch(0.2)
            if SLOW and (number, done) == (1, 40):
                busy(48)
            done += 1
            socket.send(b"result")
        generation, done = generation + 1, done + 1
        socket.close()


def train():
    role("main")
    port, socket = free_port(), zmq.Context().socket(zmq.ROUTER)
    socket.bind("tcp://127.0.0.1:%d" % port)
    for number in range(2):
        start(again("work") + ["as", str(number), str(port)], "worker%d" % number)
    names = sorted(socket.recv_multipart()[0] for _ in range(2))
    for step in range(STEPS):
        for name in names:
            socket.send_multipart([name, b"task"])
        results = 0
        while results < len(names):
            results += socket.recv_multipart()[1] == b"result"
        told(step)
    for name in names:
        socket.send_multipart([name, b"end"])


if "work" in sys.argv:
    at = sys.argv.index("as")
    work(int(sys.argv[at + 1]), int(sys.argv[at + 2]))
else:
    train()
