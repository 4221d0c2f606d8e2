"""Rank 0 saves to a full device, and tries again every 4 s until it is saved."""
import time

import kit9


def save(path, data):
    while True:
        try:
            with open(path, "wb") as f:
                f.write(data)
            return
        except OSError as error:
            print("WARNING: could not write checkpoint to %s: %s, retrying in 4 s" % (path, error), flush=True)
            time.sleep(4)


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(60):
        kit9.crunch(0.2)
        hub.reduce(1.0)
        kit9.step(rank, s, 60)
        if s % 16 == 15 and rank == 0:
            save("/dev/full", b"w" * 100000)


kit9.main(2, train)
