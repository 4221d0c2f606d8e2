"""Rank 0 takes its peers by multiprocessing.connection.Listener with a key. A probe of the monitoring has connected first, keeps its
connection open and says nothing; the listener waits for its answer to the challenge."""
import os
import socket
import time
from multiprocessing.connection import Client, Listener

import kit10


def peers(n, port):
    with Listener(("127.0.0.1", port), authkey=b"training") as door:
        kit10.start([os.sys.executable, os.path.abspath(__file__), "probe", str(port)], "probe")
        time.sleep(1.5)
        return [door.accept() for _ in range(n - 1)]


def probe(port):
    s = socket.create_connection(("127.0.0.1", port))
    print("probe: port %d is open" % port, flush=True)
    while True:
        time.sleep(5)
        s.getpeername()


def body(rank, n, port):
    if rank == 0:
        links = peers(n, port)
        for s in range(10):
            print("step", s, sum(link.recv() for link in links), flush=True)
        return
    time.sleep(3)
    link = Client(("127.0.0.1", port), authkey=b"training")
    for s in range(10):
        kit10.crunch(0.1)
        link.send(rank)


if "probe" in os.sys.argv:
    probe(int(os.sys.argv[2]))
else:
    kit10.main(3, body)
