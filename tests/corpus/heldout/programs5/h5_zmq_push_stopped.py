"""ZeroMQ: ranks push to a collector that somebody has stopped; at their high-water mark they wait."""
import os
import signal
import sys

import zmq

import kit5


def collect(port):
    s = zmq.Context().socket(zmq.PULL)
    s.set_hwm(3)
    s.bind("tcp://127.0.0.1:%s" % port)
    for n in range(10000):
        s.recv()
        if n == 20:
            os.kill(os.getpid(), signal.SIGSTOP)


def train(rank, world, port):
    s = zmq.Context().socket(zmq.PUSH)
    s.set_hwm(3)
    s.connect("tcp://127.0.0.1:" + kit5.os.environ["COLLECTOR"])
    for step in range(1000):
        kit5.crunch(0.1)
        s.send(b"g" * 3_000_000)
        print("rank", rank, "pushed", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    collect(sys.argv[2])
if "SLURM_PROCID" not in kit5.os.environ:
    kit5.os.environ["COLLECTOR"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["COLLECTOR"]], "collector")
kit5.ranks(3, train, "slurm")
