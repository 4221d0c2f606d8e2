"""A learner publishes new weights over ZeroMQ, once a round, and two actors subscribe. Actor 1 makes its
socket anew after an error, and the learner publishes before the new one is there: the actor waits for weights
that were sent, the learner for the actor's episodes."""
import sys
import time

import zmq

from kit14 import crunch, main, told


def learner(context):
    out, episodes = context.socket(zmq.PUB), context.socket(zmq.PULL)
    out.bind("ipc://weights")
    episodes.bind("ipc://episodes")
    for _ in range(2):
        episodes.recv_json()
    time.sleep(0.5)
    for step in range(100):
        out.send_json({"version": step, "weights": [0.1] * 32})
        got = [episodes.recv_json() for _ in range(2)]
        told(step)
        assert all(g["version"] == step for g in got)


def subscribe(context):
    s = context.socket(zmq.SUB)
    s.connect("ipc://weights")
    s.setsockopt_string(zmq.SUBSCRIBE, "")
    return s


def actor(context, rank):
    weights, episodes = subscribe(context), context.socket(zmq.PUSH)
    episodes.connect("ipc://episodes")
    time.sleep(0.5)
    episodes.send_json("hello")
    while True:
        version = weights.recv_json()["version"]
        crunch(0.15)
        if rank == 2 and version == 50:
            print("actor 1: simulator crashed, starting it anew", flush=True)
            weights.close()
            episodes.send_json({"version": version})
            crunch(1)
            weights = subscribe(context)
        else:
            episodes.send_json({"version": version})


def body(rank, world, port):
    context = zmq.Context()
    learner(context) if rank == 0 else actor(context, rank)
    sys.exit(0)


main(3, body)
