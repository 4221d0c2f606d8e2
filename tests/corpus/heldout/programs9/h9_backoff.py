"""Each failed try doubles the pause, without a limit, and the pause is in seconds where tenths were meant."""
import socket
import time

import kit9


def upload(port, data):
    for attempt in range(1, 30):
        try:
            link = socket.create_connection(("127.0.0.1", port), 5)
            link.sendall(data)
            return
        except OSError as error:
            pause = 8 ** attempt / 10
            print("upload failed (%s), next try in %.0f" % (error.strerror, pause), flush=True)
            time.sleep(pause)


def train(rank, n, port):
    ring = kit9.Ring(rank, n, port)
    for s in range(40):
        kit9.crunch(0.2)
        ring.reduce(1.0)
        kit9.step(rank, s, 40)
        if s == 12 and rank == 2:
            upload(port + 99, b"checkpoint")


kit9.ranks(3, train, "horovod")
