"""Two ranks. Rank 1 puts checkpoints into a store over HTTP. Of large ones it sends the head alone, with `Expect:
100-continue`, and waits to be told to go on; the store knows nothing of it, and waits for the body.

slow: the store knows it, and looks through its folders for 80 s to see what room there is."""
import os
import sys

from kit24 import SLOW, STEPS, Descent, Mesh, busy, dial_tcp, listen_tcp, main, start, told


def head(end):
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        part = end.recv(1)
        if not part:
            return None
        got += part
    return got.decode()


def length(text):
    return next(int(line.split(":")[1]) for line in text.split("\r\n") if line.lower().startswith("content-length:"))


def keep(end, text):
    if SLOW and "100-continue" in text:
        busy(80)
        end.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    left = length(text)
    while left:
        left -= len(end.recv(min(left, 65536)))
    end.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")


def serve():
    door = listen_tcp("store")
    while True:
        end = door.accept()[0]
        with end:
            while (text := head(end)) is not None:
                keep(end, text)


def upload(end, step, size):
    end.sendall(b"PUT /checkpoint-%d HTTP/1.1\r\nHost: store\r\nContent-Length: %d\r\n%s\r\n"
                % (step, size, b"Expect: 100-continue\r\n" if size > 65536 else b""))
    if size > 65536:
        head(end)
    end.sendall(bytes(size))
    return head(end)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve"] + sys.argv[1:], "store")
    mesh, descent = Mesh(rank, world), Descent(rank)
    end = dial_tcp("store") if rank == 1 else None
    for step in range(STEPS):
        if rank == 1 and step % 8 == 0:
            upload(end, step, 200000 if step == 32 else 20000)
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
