"""kitlife.py for the programs here, with another form of steps, and links over TCP between ranks that vigil starts."""
import os
import sys

sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: E402,F401,F403
from kitlife import role, socket, time, RANK  # noqa: E402

__all__ = [n for n in globals() if not n.startswith("_")]


def train(n, begin=0, pause=0.2):
    for s in range(begin, begin + n):
        print("global_step: %d - loss: %.4f - grad_norm: %.2f" % (s, 2.8 / (1 + s / 9), 1 + s % 3 / 10), flush=True)
        time.sleep(pause)


def joined(world):
    """The links of rank 0 to all others, or of one of these to rank 0."""
    role("rank%d" % RANK)
    port = int(os.environ["MASTER_PORT"])
    if RANK:
        while True:
            try:
                return [socket.create_connection(("127.0.0.1", port))]
            except OSError:
                time.sleep(0.02)
    door = socket.create_server(("127.0.0.1", port))
    return [door.accept()[0] for _ in range(world - 1)]


def together(links, n=10**6):
    """n steps with a byte to and from each other rank."""
    for s in range(n):
        time.sleep(0.1)
        for link in links:
            link.sendall(b"g")
        for link in links:
            if link.recv(1) == b"":
                raise ConnectionError("connection closed by peer in all_reduce of step %d" % s)


__all__ += ["train", "joined", "together"]
