"""A coordinator publishes rounds by ZeroMQ to two ranks; it works for 50 s on what it got in round 14."""
import sys
import time

import zmq

from kit16 import compute, crunch, main, start, told

WORLD, ROUNDS = 2, 24


def coordinate(port):
    context = zmq.Context()
    rounds, updates = context.socket(zmq.PUB), context.socket(zmq.PULL)
    rounds.bind("tcp://127.0.0.1:%d" % port)
    updates.bind("tcp://127.0.0.1:%d" % (port + 1))
    for _ in range(WORLD):
        updates.recv_pyobj()
    time.sleep(1)
    for number in range(ROUNDS):
        rounds.send_string("round %d" % number)
        for _ in range(WORLD):
            updates.recv_pyobj()
        told(number, 1)
        if number == 14:
            compute(50)
    rounds.send_string("round -1")
    time.sleep(1)


def body(rank, world, port):
    helper = start([sys.executable, "-u", __file__, "coordinate", str(port)], "coordinator") if rank == 0 else None
    context = zmq.Context()
    updates, rounds = context.socket(zmq.PUSH), context.socket(zmq.SUB)
    updates.connect("tcp://127.0.0.1:%d" % (port + 1))
    rounds.connect("tcp://127.0.0.1:%d" % port)
    rounds.subscribe("round")
    updates.send_pyobj(("hello", rank))
    while True:
        number = int(rounds.recv_string().split()[1])
        if number < 0:
            break
        crunch(0.4)
        updates.send_pyobj((number, rank))
    if helper:
        helper.wait()


if "coordinate" in sys.argv:
    coordinate(int(sys.argv[2]))
    sys.exit()
main(WORLD, body)
