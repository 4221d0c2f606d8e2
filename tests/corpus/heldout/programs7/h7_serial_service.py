"""A service of metrics has one client at a time and no backlog. An agent is connected and says nothing; rank 1 cannot even connect."""
import os
import signal
import socket
import sys

import kit7


def serve(port):
    door = socket.socket()
    door.bind(("127.0.0.1", port))
    door.listen(0)
    while True:
        s, _ = door.accept()
        for line in s.makefile("rb"):
            s.sendall(b"ok\n")
        s.close()


def agent(port):
    links = [kit7.dial(port) for _ in range(2)]
    signal.pause()
    del links


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    for step in range(1000):
        kit7.crunch(0.2)
        if rank == 1 and step == 20:
            kit7.start([sys.executable, __file__, "agent", os.environ["METRICS_PORT"]], "agent")
        if rank == 1 and step == 26:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", int(os.environ["METRICS_PORT"])))
                    break
                except OSError:
                    pass
        line.reduce()
        if rank == 0:
            print("%d it, loss %.3f" % (step, 2 / (step + 1)), flush=True)


if sys.argv[1:]:
    {"serve": serve, "agent": agent}[sys.argv[1]](int(sys.argv[2]))
if "METRICS_PORT" not in os.environ:
    os.environ["METRICS_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, "serve", os.environ["METRICS_PORT"]], "service")
kit7.ranks(3, train)
