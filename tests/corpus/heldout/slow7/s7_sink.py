"""Three workers send their gradients to a process that adds them up, over ZeroMQ; its optimizer computes more now."""
import os
import sys
import time

import zmq

import kit7


def add_up(address, world):
    door, laps = zmq.Context().socket(zmq.ROUTER), kit7.Laps(world)
    door.bind(address)
    while True:
        got = [door.recv_multipart() for _ in range(world)]
        laps.begin = time.monotonic()
        kit7.work(0.7 if kit7.slow() else 0.1)
        laps.mine()
        laps.done()
        total = sum(int(m[-1]) for m in got)
        for m in got:
            door.send_multipart([m[0], b"%d" % total])


class Sum:
    def __init__(self, rank):
        self.link = zmq.Context().socket(zmq.DEALER)
        self.link.connect(os.environ["SINK"])

    def reduce(self, x):
        self.link.send(b"%d" % x)
        return int(self.link.recv())


def train(rank, world, port):
    def before(step):
        kit7.work(0.05)
        kit7.disk(0.3)
    kit7.loop(rank, Sum(rank), before, lambda s: "{'loss': %.4f, 'epoch': %.2f}" % (3 / (1 + s / 40), s / 1000))


if sys.argv[1:2] == ["sink"]:
    add_up(sys.argv[2], 3)
if "SINK" not in os.environ:
    os.environ["SINK"] = "tcp://127.0.0.1:%d" % kit7.free_port()
    kit7.start([sys.executable, __file__, "sink", os.environ["SINK"]], "server")
kit7.ranks(3, train)
