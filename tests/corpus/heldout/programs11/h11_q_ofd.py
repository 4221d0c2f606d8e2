"""Rank 0 has the lock of an open file description while it writes the cache, for 52 s; rank 1 waits for it by F_OFD_SETLKW."""
import fcntl
import os
import struct
import tempfile
import time

from kit11 import Hub, crunch, main

PATH = os.environ.setdefault("CACHE_FILE", os.path.join(tempfile.mkdtemp(prefix="cache-", dir="."), "data"))


def locked(fd, kind):
    fcntl.fcntl(fd, 38, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))


def body(rank, n, port):
    hub, fd = Hub(rank, n, port), os.open(PATH, os.O_RDWR | os.O_CREAT)
    for step in range(50):
        crunch(0.2)
        hub.reduce(1.0)
        if rank == 0:
            print("step=%d" % step, flush=True)
        if step == 20:
            time.sleep(0.5 * rank)
            locked(fd, fcntl.F_WRLCK)
            if os.fstat(fd).st_size == 0:
                time.sleep(52)
                os.write(fd, b"tokens")
            locked(fd, fcntl.F_UNLCK)


main(2, body)
