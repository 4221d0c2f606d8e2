"""Ranks ask for the tracking server with pauses of 1, 2, 4, ... 32 s; it is there after 50 s."""
import socket
import sys
import time

import kit5


def track(port):
    pause = 1
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(pause)
            pause = min(32, pause * 2)


def serve(port):
    time.sleep(50)
    door = kit5.listen(port)
    links = [door.accept()[0] for _ in range(2)]
    for s in links:
        s.sendall(b"run 1\n")


def train(rank, world, port):
    link = track(int(kit5.os.environ["TRACKER"]))
    print("rank", rank, "is", link.recv(100), flush=True)
    for step in range(10):
        kit5.crunch(0.2)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
    sys.exit()
if "RANK" not in kit5.os.environ:
    kit5.os.environ["TRACKER"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["TRACKER"]], "tracker")
    print("connecting to the tracking server", flush=True)
kit5.ranks(2, train)
