"""Two ranks; rank 1 keeps its optimizer's state with a server behind a small proxy of one's own: a thread for each direction. The thread
towards the server decodes each part to count lines for its statistics, fails at bytes that are no UTF-8 and ends with its error in a
log file. The other direction is well, and both connections stay open.

slow: the bytes are text; the server writes its snapshot for 67 s."""
import sys
import threading
import traceback

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Ring, busy, dial, listen, main, os, read, start, time


def announce(name, door):
    with open(name + ".new", "w") as f:
        f.write(str(door.getsockname()[1]))
    os.rename(name + ".new", name)


def at(name):
    while not os.path.exists(name):
        time.sleep(0.05)
    with open(name) as f:
        return dial(int(f.read()))


def serve():
    door = listen(0)
    announce("keeper", door)
    sock = door.accept()[0]
    kept = 0
    while True:
        size = int(read(sock, 6))
        read(sock, size)
        kept += 1
        if SLOW and kept == STALL // 10:
            busy(67)
        sock.sendall(b"%06d" % kept)


class Proxy:
    def __init__(self):
        self.lines, self.bytes = 0, 0

    def count(self, data):
        self.bytes += len(data)
        self.lines += data.decode().count("\n")

    def forward(self, source, sink, counting):
        try:
            while True:
                data = source.recv(4096)
                if not data:
                    break
                if counting:
                    self.count(data)
                sink.sendall(data)
        except Exception:
            with open("proxy.err", "a") as f:
                traceback.print_exc(file=f)

    def run(self):
        door = listen(0)
        announce("proxy", door)
        client, server = door.accept()[0], at("keeper")
        back = threading.Thread(target=self.forward, args=(server, client, False))
        there = threading.Thread(target=self.forward, args=(client, server, True))
        back.start()
        there.start()
        there.join()
        back.join()


def body(rank, world, port):
    if rank == 1:
        start(OWN + sys.argv[1:] + ["keeper"], "keeper")
        start(OWN + sys.argv[1:] + ["proxy"], "proxy")
    keeper = at("proxy") if rank == 1 else None
    ring, model, report = Ring(rank, world), Model(rank), Report("epoch", rank)
    for step in range(1, STEPS + 1):
        model.update(ring.mean("g%d" % step, model.gradient()))
        if rank == 0:
            report(step, model.loss())
        if rank == 1 and step % 10 == 0:
            state = b"momentum %r\n" % model.weight
            if step == STALL and not SLOW:
                state = b"\x93NUMPY\x01\x00" + state
            keeper.sendall(b"%06d" % len(state) + state)
            read(keeper, 6)


if sys.argv[-1] == "keeper":
    serve()
elif sys.argv[-1] == "proxy":
    Proxy().run()
else:
    main(2, body)
