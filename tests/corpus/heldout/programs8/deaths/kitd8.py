"""kitlife.py for the programs here, with other forms of steps, and ranks that vigil starts and that write to each other by pickled messages."""
import logging
import os
import sys

sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: E402,F401,F403
from kitlife import role, time, RANK  # noqa: E402
from multiprocessing.connection import Client, Listener  # noqa: E402

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
log = logging.getLogger("trainer")


def fit(n, begin=0, pause=0.15):
    for s in range(begin, begin + n):
        log.info("epoch %d batch %d loss %.4f", s // 20, s, 2.5 / (1 + s / 7))
        time.sleep(pause)


class Group:
    """Rank 0 and its links to all others."""

    def __init__(self, world):
        role("rank%d" % RANK)
        address = ("127.0.0.1", int(os.environ["MASTER_PORT"]))
        if RANK == 0:
            with Listener(address, backlog=world) as door:
                self.links = [door.accept() for _ in range(world - 1)]
            return
        while True:
            try:
                self.links = [Client(address)]
                return
            except OSError:
                time.sleep(0.05)

    def steps(self, n, begin=0):
        for s in range(begin, begin + n):
            time.sleep(0.15)
            for link in self.links:
                link.send(s)
            for link in self.links:
                link.recv()
            if RANK == 0:
                log.info("step %d loss %.4f", s, 2 / (1 + s))


__all__ = [n for n in globals() if not n.startswith("_")]
