"""A coordinator publishes the number of each round over ZeroMQ, three ranks train a round and push their update. Rank
1 opens its subscription anew after each save, and once the save takes longer: the number of the next round is
published before it has subscribed. It waits for a word that was said, the coordinator for its update."""
import sys
import time

import zmq

from kit16 import crunch, main, start, told

WORLD = 3


def coordinate(port):
    context = zmq.Context()
    rounds, updates = context.socket(zmq.PUB), context.socket(zmq.PULL)
    rounds.bind("tcp://127.0.0.1:%d" % port)
    updates.bind("tcp://127.0.0.1:%d" % (port + 1))
    for _ in range(WORLD):
        updates.recv_pyobj()
    time.sleep(1)
    for number in range(60):
        rounds.send_string("round %d" % number)
        for _ in range(WORLD):
            updates.recv_pyobj()
        told(number, 1)


def subscribed(context, port):
    socket = context.socket(zmq.SUB)
    socket.connect("tcp://127.0.0.1:%d" % port)
    socket.subscribe("round")
    return socket


def next_round(rounds):
    return int(rounds.recv_string().split()[1])


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, "-u", __file__, "coordinate", str(port)], "coordinator")
    context = zmq.Context()
    updates = context.socket(zmq.PUSH)
    updates.connect("tcp://127.0.0.1:%d" % (port + 1))
    rounds = subscribed(context, port)
    updates.send_pyobj(("hello", rank))
    while True:
        number = next_round(rounds)
        crunch(0.5)
        if rank == 1 and number == 14:
            rounds.close()
            updates.send_pyobj((number, rank))
            crunch(2.5)
            rounds = subscribed(context, port)
        else:
            updates.send_pyobj((number, rank))


if "coordinate" in sys.argv:
    coordinate(int(sys.argv[2]))
    sys.exit()
main(WORLD, body)
