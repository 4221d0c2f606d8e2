"""Two ranks, and a server of files that serves one connection after the other with sendfile. Rank 1 reads the head of a
large file, and asks by a second connection for the index that the rest is read with: the server is still in the first
connection, of which rank 1 reads no more.

slow: the index is asked for before, and rank 1 unpacks the head for 64 s before it reads the rest."""
import os
import sys

from kit24 import SLOW, STEPS, Descent, Mesh, busy, dial_tcp, listen_tcp, main, start, told

LARGE = 24 << 20


def give(end, name):
    with open(name, "rb") as f:
        size, at = os.fstat(f.fileno()).st_size, 0
        while at < size:
            at += os.sendfile(end.fileno(), f.fileno(), at, size - at)


def serve():
    with open("index", "wb") as f:
        f.write(bytes(1000))
    with open("shard", "wb") as f:
        f.truncate(LARGE)
    door = listen_tcp("files")
    while True:
        end = door.accept()[0]
        with end:
            give(end, end.recv(64).decode())


def ask(name):
    end = dial_tcp("files")
    end.sendall(name.encode())
    return end


def fetch_index():
    return read_all(ask("index"))


def read_all(end):
    count = 0
    while part := end.recv(1 << 16):
        count += len(part)
    return count


def fetch_shard():
    if SLOW:
        fetch_index()
    end = ask("shard")
    end.recv(4096)
    if SLOW:
        busy(64)
    else:
        fetch_index()
    return read_all(end)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve"] + sys.argv[1:], "files")
    mesh, descent = Mesh(rank, world, tcp=True), Descent(rank)
    for step in range(STEPS):
        if rank == 1 and step % 10 == 0 and step < 30:
            fetch_index()
        if rank == 1 and step == 34:
            fetch_shard()
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
