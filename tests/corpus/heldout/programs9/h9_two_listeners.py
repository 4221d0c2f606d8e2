"""A tokenizer service was started anew while the one before still had its port, which both share (SO_REUSEPORT). The one before takes
nothing any more; the kernel gives it some of the connections."""
import os
import socket
import sys
import time

import kit9


def door(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", port))
    s.listen(50)
    return s


def serve(port, requests):
    s = door(port)
    for _ in range(requests):
        link, _ = s.accept()
        kit9.receive(link)
        kit9.send(link, [1, 2, 3])
        link.close()
    while True:
        time.sleep(3)  # told to end; a thread of metrics goes on


def ask(port, number):
    link = kit9.dial(port)
    kit9.send(link, number)
    got = kit9.receive(link)
    link.close()
    return got


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(200):
        kit9.crunch(0.2)
        if rank == 1:
            if s == 10:
                kit9.start([sys.executable, sys.argv[0], "serve", os.environ["TOKENS_PORT"], "100000"], "new")
                time.sleep(1)
            ask(int(os.environ["TOKENS_PORT"]), s)
        hub.reduce(1.0)
        kit9.step(rank, s, 200)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]), int(sys.argv[3]))
if "TOKENS_PORT" not in os.environ:
    os.environ["TOKENS_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "serve", os.environ["TOKENS_PORT"], "10"], "old")
kit9.main(2, train)
