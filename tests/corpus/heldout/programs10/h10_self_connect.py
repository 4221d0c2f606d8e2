"""Rank 1 tries to reach rank 0 before it listens, from a range of ports in which rank 0's is. It has got a connection to itself, and rank 0
cannot bind its port."""
import os
import socket
import time

import kit10


def server(port):
    while True:
        try:
            return kit10.listen(port)
        except OSError as error:
            print("rank 0: %s, trying again" % error, flush=True)
            time.sleep(4)


def client(port):
    s = socket.socket()
    s.bind(("127.0.0.1", port))
    s.connect(("127.0.0.1", port))
    return s


def body(rank, n, port):
    if rank == 0:
        time.sleep(2)
        link, _ = server(port).accept()
    else:
        link = client(port)
    kit10.send(link, ("hello", rank))
    while kit10.receive(link)[1] == rank:
        pass
    for s in range(10):
        kit10.send(link, s)
        kit10.receive(link)
        kit10.log(rank, s, ok=1)


kit10.main(2, body)
