"""A cache with a lock for its index and one for its data, both locks of open file descriptions (F_OFD_SETLKW), of which the kernel does not say who has
them and looks for no deadlock. Who adds takes index and data, who compacts takes data and index; ranks 0 and 1 do it at once."""
import fcntl
import os
import struct
import tempfile
import time

from kit11 import Hub, crunch, main

F_OFD_SETLKW = 38
FOLDER = os.environ.setdefault("CACHE_DIR", tempfile.mkdtemp(prefix="cache-", dir="."))


class Locked:
    def __init__(self, name):
        self.fd = os.open(os.path.join(FOLDER, name), os.O_RDWR | os.O_CREAT)

    def set(self, kind):
        fcntl.fcntl(self.fd, F_OFD_SETLKW, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))

    def __enter__(self):
        self.set(fcntl.F_WRLCK)

    def __exit__(self, *_):
        self.set(fcntl.F_UNLCK)


def body(rank, n, port):
    hub = Hub(rank, n, port)
    index, data = Locked("index.lock"), Locked("data.lock")
    for step in range(200):
        crunch(0.2)
        loss = hub.reduce(1 / (step + 1))
        if rank == 0:
            print("step=%d loss=%.3f" % (step, loss), flush=True)
        if rank == 0 and step % 20 == 19:
            with index:
                time.sleep(0.4)
                with data:
                    pass
        if rank == 1 and step % 20 == 19:
            with data:
                time.sleep(0.4)
                with index:
                    pass


main(2, body)
