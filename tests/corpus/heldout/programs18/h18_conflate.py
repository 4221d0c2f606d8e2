"""A trainer publishes its weights by ZeroMQ after each step; a worker takes the newest only, as its socket has CONFLATE
set. Requests for a score go the same way: weights that follow at once take the place of a request. The trainer waits
for the score, the worker for the next message."""
import json
import sys
import time

import zmq
from kit18 import again, crunch, free_port, me, role, start, told


def work(port):
    me("worker")
    context = zmq.Context()
    news, out = context.socket(zmq.SUB), context.socket(zmq.PUSH)
    news.setsockopt(zmq.CONFLATE, 1)
    news.setsockopt(zmq.SUBSCRIBE, b"")
    news.connect("tcp://127.0.0.1:%d" % port)
    out.connect("tcp://127.0.0.1:%d" % (port + 1))
    out.send(b"ready")
    while True:
        what, step = json.loads(news.recv())
        crunch(0.3)
        if what == "score":
            out.send(b"0.8")


def train():
    role("main")
    port, context = free_port(), zmq.Context()
    news, scores = context.socket(zmq.PUB), context.socket(zmq.PULL)
    news.bind("tcp://127.0.0.1:%d" % port)
    scores.bind("tcp://127.0.0.1:%d" % (port + 1))
    start(again("work") + ["at", str(port)], "worker")
    scores.recv()
    time.sleep(0.5)
    for step in range(400):
        crunch(0.2)
        told(step)
        words = [["weights", step]]
        if step == 45:
            words.insert(0, ["score", step])
        for word in words:
            news.send(json.dumps(word).encode())
        if step == 45:
            scores.recv()


if "work" in sys.argv:
    work(int(sys.argv[sys.argv.index("at") + 1]))
else:
    train()
