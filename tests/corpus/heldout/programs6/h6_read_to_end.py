"""Rank 2 posts its metrics without a length and waits for the answer; the server reads the body to the end of the connection."""
import os
import socket
import sys

import kit6


def serve(port):
    door = kit6.listen(port)
    while True:
        link, _ = door.accept()
        f = link.makefile("rwb")
        head = {}
        for line in iter(f.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            head[name.lower()] = value
        f.read(int(head["content-length"])) if "content-length" in head else f.read()
        f.write(b"HTTP/1.0 204 OK\r\n\r\n")
        f.flush()
        f.close()
        link.close()


def post(body, length=True):
    with socket.create_connection(("127.0.0.1", int(os.environ["METRICS"]))) as link:
        head = "POST /m HTTP/1.0\r\n" + ("Content-Length: %d\r\n" % len(body) if length else "")
        link.sendall(head.encode() + b"\r\n" + body)
        return link.recv(100)


def train(rank, world, port):
    total = kit6.Reducer()
    for step in range(1000):
        kit6.crunch(0.15)
        if rank == 2 and step % 8 == 0:
            post(b'{"loss": 0.1}', length=step < 24)
        total.sum(step)
        if rank == 0:
            print("%d: ok" % step, flush=True)


if sys.argv[1:] and "RANK" not in os.environ:
    serve(int(sys.argv[1]))
else:
    if "METRICS" not in os.environ:
        os.environ["METRICS"] = str(kit6.free_port())
        kit6.start([sys.executable, __file__, os.environ["METRICS"]], "metrics")
        kit6.reducer(3)
    kit6.ranks(3, train)
