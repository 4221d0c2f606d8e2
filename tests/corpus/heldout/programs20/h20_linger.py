"""A trainer pushes its losses to a collector by ZeroMQ. The collector keeps forty and ends. What the trainer has pushed
since then is not delivered to anybody, and the end of the context waits for it, as there is no limit.

slow: the collector comes back after 48 s and takes the rest."""
import sys
import time

import zmq

from kit20 import SLOW, again, crunch, free_port, role, start, told, with_parent


def serve(port):
    with_parent()
    pull = zmq.Context().socket(zmq.PULL)
    pull.bind("tcp://127.0.0.1:%d" % port)
    for _ in range(40):
        pull.recv()
    pull.close(0)
    if SLOW:
        time.sleep(52)
        pull = zmq.Context().socket(zmq.PULL)
        pull.bind("tcp://127.0.0.1:%d" % port)
        while pull.poll(3000):
            pull.recv()
        pull.close(0)


def train():
    role("main")
    port = free_port()
    start(again("serve") + [str(port)], "collector")
    context = zmq.Context()
    push = context.socket(zmq.PUSH)
    push.setsockopt(zmq.LINGER, -1)
    push.connect("tcp://127.0.0.1:%d" % port)
    for step in range(60):
        crunch(0.2)
        told(step)
        push.send_json([step, 2.5 / (1 + 0.1 * step)])
    push.close()
    context.term()
    print("finished", flush=True)


if "serve" in sys.argv:
    serve(int(sys.argv[-1]))
else:
    train()
