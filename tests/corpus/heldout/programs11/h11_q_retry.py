"""A mirror says to rank 2 that it may ask again in 50 s, and it does; three other ranks wait in their sum."""
import http.server
import os
import time
import urllib.error
import urllib.request

from kit11 import Mesh, again, crunch, free_port, job, main


class Mirror(http.server.BaseHTTPRequestHandler):
    refused = False

    def do_GET(self):
        limited = self.path == "/shard-2-2" and not Mirror.refused
        Mirror.refused |= limited
        self.send_response(429 if limited else 200)
        if limited:
            self.send_header("Retry-After", "50")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def fetch(name):
    try:
        urllib.request.urlopen("http://127.0.0.1:%s/%s" % (os.environ["MIRROR"], name), timeout=20).read()
    except urllib.error.HTTPError as e:
        time.sleep(int(e.headers["Retry-After"]))
        fetch(name)


def body(rank, n, port):
    mesh = Mesh(rank, n, port)
    for shard in range(5):
        fetch("shard-%d-%d" % (rank, shard))
        for step in range(10):
            crunch(0.15)
            mesh.reduce((shard, step), 1.0)
            if rank == 0:
                print("shard %d step %d" % (shard, step), flush=True)


if job()[0] == "mirror":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(job()[1][0])), Mirror).serve_forever()
else:
    if "MIRROR" not in os.environ:
        os.environ["MIRROR"] = str(free_port())
        again("mirror", os.environ["MIRROR"])
    main(4, body)
