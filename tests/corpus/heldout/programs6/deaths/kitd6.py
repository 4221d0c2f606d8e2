"""kitlife.py for the programs here, with another form of steps and links between ranks that vigil starts."""
import os
import sys

sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: E402,F401,F403
from kitlife import role, socket, time, RANK  # noqa: E402

__all__ = [n for n in globals() if not n.startswith("_")]


def epochs(n, begin=1, pause=0.25):
    for e in range(begin, begin + n):
        print("Epoch %d: train_loss=%.4f val_loss=%.4f" % (e, 2.5 / e, 2.7 / e), flush=True)
        time.sleep(pause)


def joined(world):
    """Links of rank 0 to all others, or of one of these to rank 0."""
    name = "\0d6-" + os.environ["MASTER_PORT"]
    role("rank%d" % RANK)
    if RANK:
        while True:
            try:
                s = socket.socket(socket.AF_UNIX)
                s.connect(name)
                s.sendall(b"%d" % RANK)
                return [s]
            except OSError:
                time.sleep(0.02)
    door, links = socket.socket(socket.AF_UNIX), {}
    door.bind(name)
    door.listen(9)
    while len(links) < world - 1:
        s, _ = door.accept()
        links[int(s.recv(1))] = s
    return [links[r] for r in sorted(links)]


def exchange(links):
    for s in links:
        s.sendall(b"g")
    for s in links:
        if s.recv(1) == b"":
            raise ConnectionResetError(104, "Connection reset by peer")


__all__ += ["epochs", "joined", "exchange"]
