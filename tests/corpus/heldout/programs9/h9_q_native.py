"""Rank 1 calls a solver in C that keeps the interpreter's lock for 60 s; its thread of Python stands still meanwhile."""
import ctypes
import threading
import time

import kit9

native = ctypes.PyDLL(None)


def heartbeat():
    while True:
        time.sleep(1)


def train(rank, n, port):
    threading.Thread(target=heartbeat, daemon=True).start()
    ring = kit9.Ring(rank, n, port)
    for s in range(36):
        kit9.crunch(0.15)
        if (rank, s) == (1, 20):
            native.sleep(60)  # as a solver that waits for its device
        ring.reduce(1.0)
        kit9.step(rank, s, 36)


kit9.main(3, train, "arg")
