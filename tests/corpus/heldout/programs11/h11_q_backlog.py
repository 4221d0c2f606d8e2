"""A tokenizer serves one connection on a unix socket at a time; rank 0 keeps its own for 50 s, the others cannot connect before. They want nothing of each other
until then."""
import os
import socket
import tempfile
import time

from kit11 import Hub, again, crunch, job, main

PATH = os.environ.setdefault("TOKENIZER", os.path.join(tempfile.mkdtemp(prefix="tok-", dir="."), "sock"))


def service():
    door = socket.socket(socket.AF_UNIX)
    door.bind(PATH)
    door.listen(1)
    while True:
        client, _ = door.accept()
        while text := client.recv(4096):
            time.sleep(len(text) / 4)
            client.sendall(b"done")


def body(rank, n, port):
    hub = Hub(rank, n, port)
    time.sleep(1 if rank else 0)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(PATH)
        sock.sendall(b"x" * (4 if rank else 200))
        sock.recv(64)
    for step in range(30):
        crunch(0.2)
        hub.reduce(1.0)
        if rank == 0:
            print("step %d" % step, flush=True)


if job()[0] == "tokenizer":
    service()
else:
    if "RANK" not in os.environ:
        again("tokenizer")
        time.sleep(0.5)
    main(5, body)
