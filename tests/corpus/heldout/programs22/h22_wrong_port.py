"""A learner (rank 0) and two actors over ZeroMQ. The actors push what they played, the learner wants something of each for a step. Actor 2
is told a new address at step 20, with a port at which nobody listens; what it sends stays with it, and then it waits in
`send`. The learner waits for actor 2, actor 1 for new weights.

slow: the address is right, and actor 2 plays for 48 s."""
import pickle

import zmq

from kit22 import SLOW, STEPS, Model, busy, crunch, free_port, main

CONTEXT = zmq.Context()


def open_push(port):
    push = CONTEXT.socket(zmq.PUSH)
    push.setsockopt(zmq.IMMEDIATE, 1)
    push.connect("tcp://127.0.0.1:%d" % port)
    return push


def hand_in(push, played):
    push.send(pickle.dumps(played))


def collect(pull, world):
    played = {}
    while len(played) < world - 1:
        rank, x = pickle.loads(pull.recv())
        played[rank] = x
    return played


def learn(world, port):
    pull, weights, model = CONTEXT.socket(zmq.PULL), CONTEXT.socket(zmq.ROUTER), Model(0)
    pull.bind("tcp://127.0.0.1:%d" % (port + 1))
    weights.bind("tcp://127.0.0.1:%d" % (port + 2))
    for step in range(STEPS):
        collect(pull, world)
        model.apply(model.gradient(model.batch()))
        model.told(step)
        for _ in range(world - 1):
            who, _, _ = weights.recv_multipart()
            weights.send_multipart([who, b"", b"w"])


def new_weights(ask):
    ask.send(b"")
    return ask.recv()


def act(rank, port):
    push, ask = open_push(port + 1), CONTEXT.socket(zmq.REQ)
    ask.connect("tcp://127.0.0.1:%d" % (port + 2))
    for step in range(STEPS):
        crunch(0.1)
        if rank == 2 and step == 20:
            push.close()
            push = open_push(port + 1 if SLOW else free_port())
            if SLOW:
                busy(48)
        hand_in(push, (rank, step))
        new_weights(ask)


def body(rank, world, port):
    if rank == 0:
        learn(world, port)
    else:
        act(rank, port)


main(3, body)
