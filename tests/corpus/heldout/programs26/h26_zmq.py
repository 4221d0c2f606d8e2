"""A learner publishes weights by ZeroMQ, an actor makes episodes with them. The actor subscribes anew after it has been idle, too
late for version 40, and waits for it; the learner waits for its episodes (slow: the actor's environment is slow)."""
import os
import sys
import time

import zmq

from kit26 import OWN, SLOW, STALL, crunch, role, say, start

WEIGHTS, EPISODES = "ipc://" + os.path.abspath("weights"), "ipc://" + os.path.abspath("episodes")
context = zmq.Context()


def act():
    role("actor")
    weights, episodes = context.socket(zmq.SUB), context.socket(zmq.PUSH)
    weights.connect(WEIGHTS)
    weights.setsockopt(zmq.SUBSCRIBE, b"")
    episodes.connect(EPISODES)
    episodes.send_pyobj(-1)
    while True:
        version = weights.recv_pyobj()
        if version == STALL and SLOW:
            crunch(68)
        crunch(0.05)
        if version == STALL - 1 and not SLOW:
            weights.setsockopt(zmq.UNSUBSCRIBE, b"")
        episodes.send_pyobj(version)
        if version == STALL - 1 and not SLOW:
            time.sleep(2)
            weights.setsockopt(zmq.SUBSCRIBE, b"")


def learn():
    role("main")
    weights, episodes = context.socket(zmq.PUB), context.socket(zmq.PULL)
    weights.bind(WEIGHTS)
    episodes.bind(EPISODES)
    actor = start([*OWN, "actor", *(["slow"] if SLOW else [])])
    episodes.recv_pyobj()
    time.sleep(1)
    for version in range(STALL + 25):
        weights.send_pyobj(version)
        crunch(0.2)
        while episodes.recv_pyobj() < version:
            pass
        if version % 5 == 0:
            say("version %d: mean return %.2f" % (version, 10 - 9 / (version + 1)))
    actor.terminate()


act() if "actor" in sys.argv else learn()
