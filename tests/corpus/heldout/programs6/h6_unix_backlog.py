"""A service that listens with a short backlog waits for the end of its warm-up pipe and accepts nobody; the ranks block in connect()."""
import os
import socket
import sys

import kit6


def serve():
    door = socket.socket(socket.AF_UNIX)
    door.bind("service.sock")
    door.listen(0)
    r, w = os.pipe()
    for n in range(15):
        kit6.crunch(0.2)
        print("warm-up", n, flush=True)
    os.read(r, 1)  # a warm-up process would write here; it was never started
    while True:
        door.accept()


def ask(rank, world, port):
    while not os.path.exists("service.sock"):
        kit6.crunch(0.1)
    kit6.crunch(0.3 * rank)
    s = socket.socket(socket.AF_UNIX)
    s.connect("service.sock")
    kit6.send(s, rank)
    kit6.receive(s)


if sys.argv[1:] and "RANK" not in os.environ:
    serve()
else:
    if "RANK" not in os.environ:
        kit6.start([sys.executable, __file__, "serve"], "service")
    kit6.ranks(4, ask)
