"""Simulators push results to a sink over ZeroMQ; the sink copies them into a FIFO of a plotter that has stopped to read."""
import os
import signal
import sys

import zmq

import kit4


def sink(port):
    s = zmq.Context().socket(zmq.PULL)
    s.rcvhwm = 10
    s.bind("tcp://127.0.0.1:%s" % port)
    out = open("plot.fifo", "wb", buffering=0)
    while True:
        out.write(s.recv())


def plot():
    f = open("plot.fifo", "rb", buffering=0)
    for _ in range(60):
        f.read(20000)
    signal.pause()


def main():
    kit4.role("main")
    port = kit4.free_port()
    os.mkfifo("plot.fifo")
    kit4.start([sys.executable, __file__, "plot"], "plotter")
    kit4.start([sys.executable, __file__, "sink", str(port)], "sink")
    s = zmq.Context().socket(zmq.PUSH)
    s.sndhwm = 10
    s.connect("tcp://127.0.0.1:%d" % port)
    for i in range(100000):
        s.send(bytes(200_000))
        kit4.crunch(0.1)
        print("\rsimulated %d" % i, end="", flush=True)


sink(sys.argv[2]) if sys.argv[1:2] == ["sink"] else plot() if sys.argv[1:] == ["plot"] else main()
