"""Two ranks of one machine fetch the next shard from a mirror, the one that has the lock of the cache. The shard was not
uploaded to its end, and the mirror announces the length that its list has: the fetch waits for the rest, the mirror for
the next request, and rank 1 for the lock.

slow: the rest comes after 48 s."""
import fcntl
import http.client
import os
import socketserver
import sys
import time

from kit20 import SLOW, STEPS, Line, again, crunch, dial, main, start, told, with_parent

LISTED, THERE = 400000, 250000


class Mirror(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline():
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LISTED)
            self.wfile.write(bytes(THERE))
            if SLOW:
                time.sleep(48)
                self.wfile.write(bytes(LISTED - THERE))


def serve(port):
    with_parent()
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("127.0.0.1", port), Mirror).serve_forever()


def fetch(port):
    with open("cache.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists("shard-1"):
            link = http.client.HTTPConnection("127.0.0.1", port)
            link.request("GET", "/shard-1")
            with open("shard-1.part", "wb") as f:
                f.write(link.getresponse().read())
            os.rename("shard-1.part", "shard-1")


def body(rank, world, port):
    if rank == 0:
        start(again("mirror") + [str(port + 5)], "mirror")
    dial(port + 5).close()
    line = Line(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        line.sum(0.4)
        if rank == 0:
            told(step)
        if step == 35:
            time.sleep(rank)
            fetch(port + 5)


if "mirror" in sys.argv:
    serve(int(sys.argv[-1]))
else:
    main(2, body)
