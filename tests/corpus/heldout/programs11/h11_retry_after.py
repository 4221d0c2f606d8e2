"""A mirror answers 429 to rank 2 and says by an epoch when it may ask again; the client takes it as seconds to wait."""
import http.server
import os
import time
import urllib.error
import urllib.request

from kit11 import Mesh, again, crunch, free_port, job, main


class Mirror(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Mirror.asked += 1
        limited = self.path.endswith("shard-2-3")
        self.send_response(429 if limited else 200)
        if limited:
            self.send_header("X-RateLimit-Reset", str(int(time.time()) + 20))
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"data")

    def log_message(self, *_):
        pass


def fetch(name):
    while True:
        try:
            return urllib.request.urlopen("http://127.0.0.1:%s/%s" % (os.environ["MIRROR"], name), timeout=20).read()
        except urllib.error.HTTPError as e:
            if e.code != 429:
                raise
            time.sleep(int(e.headers["X-RateLimit-Reset"]))


def body(rank, n, port):
    mesh = Mesh(rank, n, port)
    for shard in range(6):
        fetch("shard-%d-%d" % (rank, shard))
        for step in range(8):
            crunch(0.15)
            loss = mesh.reduce((shard, step), 1.0)
            if rank == 0:
                print("shard %d step %d loss %.3f" % (shard, step, loss / (1 + step)), flush=True)


if job()[0] == "mirror":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(job()[1][0])), Mirror).serve_forever()
else:
    if "MIRROR" not in os.environ:
        os.environ["MIRROR"] = str(free_port())
        again("mirror", os.environ["MIRROR"])
    main(4, body)
