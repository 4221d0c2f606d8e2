"""Weights are kept by a server on a unix socket that serves one client after the other."""
import os
import socket
import sys
import threading
import time

import kit4

PATH = "weights.sock"


def serve():
    door = socket.socket(socket.AF_UNIX)
    door.bind(PATH)
    door.listen(16)
    while True:
        s, _ = door.accept()
        head = kit4.receive(s)
        rows = [kit4.receive(s) for _ in range(head)]
        kit4.send(s, sum(rows))
        s.close()


class Prefetch(threading.Thread):
    """Makes the next rows; a row that is missing ends it."""

    def __init__(self, rows):
        super().__init__(daemon=True)
        self.rows, self.ready, self.row = rows, threading.Event(), None
        self.start()

    def run(self):
        try:
            for k in range(1000):
                self.row = self.rows[k]
                self.ready.set()
                time.sleep(0.01)
        except IndexError:
            pass


def train(rank, world, port):
    rows = Prefetch(list(range(20 if rank == 1 else 10000)))
    for i in range(1000):
        kit4.crunch(0.15)
        s = socket.socket(socket.AF_UNIX)
        s.connect(PATH)
        kit4.send(s, 2)
        for _ in range(2):
            rows.ready.wait()
            rows.ready.clear() if rows.row > 15 else None
            kit4.send(s, rows.row)
        got = kit4.receive(s)
        if i % 4 == 0:
            print("[%d] %d: %s" % (rank, i, got), flush=True)


if sys.argv[1:] == ["serve"]:
    serve()
if "RANK" not in os.environ:
    kit4.start([sys.executable, __file__, "serve"], "server")
    while not os.path.exists(PATH):
        time.sleep(0.05)
kit4.main(3, train)
