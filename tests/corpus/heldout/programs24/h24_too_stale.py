"""A learner and two actors with ZeroMQ. An actor plays four episodes with one version of the weights and waits for the
next; the learner tells new weights after eight updates. From step 32 on it takes no episode whose weights are more than
four updates old, and throws half of them away: it waits for more episodes, the actors wait for weights.

slow: it takes them all, and one actor's episode takes 72 s."""
import os
import sys

import zmq

from kit24 import SLOW, busy, crunch, free_port, role, start, told


def play(which, port, back):
    context = zmq.Context()
    weights, episodes = context.socket(zmq.SUB), context.socket(zmq.PUSH)
    weights.setsockopt(zmq.SUBSCRIBE, b"")
    weights.connect("tcp://127.0.0.1:%d" % port)
    episodes.connect("tcp://127.0.0.1:%d" % back)
    episodes.send_json({"hello": which})
    while True:
        version = weights.recv_json()
        for k in range(4):
            if SLOW and which == 1 and version == 32 and k == 2:
                busy(72)
            crunch(0.3)
            episodes.send_json({"version": version})


def learn():
    role("main")
    context, port, back = zmq.Context(), free_port(), free_port()
    weights, episodes = context.socket(zmq.PUB), context.socket(zmq.PULL)
    weights.bind("tcp://127.0.0.1:%d" % port)
    episodes.bind("tcp://127.0.0.1:%d" % back)
    for which in range(2):
        own = [sys.executable, os.path.abspath(__file__), "actor", str(which), str(port), str(back)]
        start(own + sys.argv[1:], "actor%d" % which)
    for _ in range(2):
        episodes.recv_json()
    crunch(1)
    for update in range(64 if SLOW else 800):
        if update % 8 == 0:
            weights.send_json(update)
        oldest = 0 if SLOW or update < 32 else update - 4
        while episodes.recv_json()["version"] < oldest:
            pass
        told(update, 1 / (1 + update))


if "actor" in sys.argv:
    play(*map(int, sys.argv[2:5]))
else:
    learn()
