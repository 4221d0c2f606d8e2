"""Every rank registers with the coordinator first; nobody started one on that port."""
import logging
import socket
import time

import kit4

logging.basicConfig(filename="register.log", level=logging.INFO)


def register(rank, address=("127.0.0.1", 29417)):
    wait = 0.2
    while True:
        try:
            return socket.create_connection(address, timeout=5)
        except OSError as e:
            logging.info("rank %d: coordinator %s:%d: %s, again in %.1f s", rank, *address, e, wait)
            time.sleep(wait)
            wait = min(wait * 1.5, 3)


def train(rank, world, port):
    print("rank %d of %d starting" % (rank, world), flush=True)
    s = register(rank)
    s.sendall(b"hello")
    print(s.recv(100))


kit4.main(3, train)
