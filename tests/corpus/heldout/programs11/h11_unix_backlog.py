"""A tokenizer as a service on a unix socket takes one connection after the other and stays with each until it is closed. Rank 0 keeps its
connection for the whole run: two more wait for an answer, and the others cannot even connect."""
import os
import socket
import tempfile
import time

from kit11 import Mesh, again, crunch, job, main

PATH = os.environ.setdefault("TOKENIZER", os.path.join(tempfile.mkdtemp(prefix="tok-", dir="."), "sock"))


def service():
    door = socket.socket(socket.AF_UNIX)
    door.bind(PATH)
    door.listen(1)
    while True:
        client, _ = door.accept()
        while text := client.recv(4096):
            client.sendall(b"%d" % len(text.split()))


def tokenize(sock, text):
    sock.sendall(text)
    return int(sock.recv(64))


def body(rank, n, port):
    mesh = Mesh(rank, n, port)
    if rank:
        time.sleep(1)
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(PATH)
    for step in range(100):
        tokens = tokenize(sock, b"a few words of text")
        crunch(0.1)
        total = mesh.reduce(step, tokens)
        if rank == 0:
            print("step %d: %d tokens" % (step, total), flush=True)


if job()[0] == "tokenizer":
    service()
else:
    if "RANK" not in os.environ:
        again("tokenizer")
        time.sleep(0.5)
    main(6, body)
