"""Workers fetch batches of indices from a coordinator process and connect again when the connection breaks."""
import os
import signal
import socket
import sys
import time

import kit4


def coordinate(port):
    door, served = kit4.listen(port), 0
    while True:
        s, _ = door.accept()
        served += 1
        if served > 45:
            os.kill(os.getpid(), signal.SIGKILL)
        kit4.receive(s)
        kit4.send(s, list(range(served * 32, served * 32 + 32)))
        s.close()


def ask(port, rank):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
                kit4.send(s, rank)
                return kit4.receive(s)
        except (OSError, EOFError):
            time.sleep(0.5)


def train(rank, world, port):
    port = int(os.environ["COORD_PORT"])
    for i in range(1000):
        indices = ask(port, rank)
        kit4.crunch(0.2)
        if i % 5 == 0:
            print("worker %d: %d batches, last index %d" % (rank, i, indices[-1]), flush=True)


if sys.argv[1:] == ["coordinate"]:
    coordinate(int(os.environ["COORD_PORT"]))
if "RANK" not in os.environ:
    os.environ["COORD_PORT"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "coordinate"], "coordinator")
kit4.main(3, train)
