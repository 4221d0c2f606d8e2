"""Two ranks and a server of features that somebody else has written. Small answers have a length of one byte; from 256 bytes on the
server tells the length little-endian, the client reads it big-endian and waits for sixteen million bytes.

slow: the order is right, the server joins tables for 68 s before its first large answer."""
import socket
import struct
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Ring, busy, listen, main, os, read, role, start, time


def serve():
    door = listen(0)
    with open("features.new", "w") as f:
        f.write(str(door.getsockname()[1]))
    os.rename("features.new", "features.port")
    sock = door.accept()[0]
    large = False
    while True:
        line = b""
        while not line.endswith(b"\n"):
            part = sock.recv(64)
            if not part:
                return
            line += part
        step, count = map(int, line.split()[1:])
        body = b"".join(struct.pack("<f", 0.01 * (step + k)) for k in range(count))
        if len(body) < 256:
            sock.sendall(bytes([0, len(body)]) + body)
            continue
        if SLOW and not large:
            busy(68)
            large = True
        sock.sendall(b"\1" + struct.pack(">I" if SLOW else "<I", len(body)) + body)


class Features:
    def __init__(self):
        while not os.path.exists("features.port"):
            time.sleep(0.05)
        self.sock = socket.create_connection(("127.0.0.1", int(open("features.port").read())))

    def fetch(self, step, count):
        self.sock.sendall(b"GET %d %d\n" % (step, count))
        kind = read(self.sock, 1)
        size = read(self.sock, 1)[0] if kind == b"\0" else struct.unpack(">I", read(self.sock, 4))[0]
        return struct.unpack("<%df" % (size // 4), read(self.sock, size))


def body(rank, world, port):
    if rank == 0:
        start(OWN + sys.argv[1:] + ["serve"], "server")
    ring, model, report = Ring(rank, world), Model(rank), Report("loss", rank)
    features = Features() if rank == 1 else None
    for step in range(STEPS):
        bias = sum(features.fetch(step, 96 if step == STALL else 12)) * 1e-6 if features else 0
        model.update(ring.mean("g%d" % step, model.gradient() + bias))
        if rank == 0:
            report(step, model.loss())


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
