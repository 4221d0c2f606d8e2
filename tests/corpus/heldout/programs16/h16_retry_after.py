"""Three ranks in a mesh fetch the shards of their next epoch from a hub over HTTP. The hub says 429 to rank 2 in the
third epoch, and a Retry-After in milliseconds, which its client takes for seconds: it sleeps for 12 hours."""
import http.server
import sys
import time
import urllib.error
import urllib.request

from kit16 import Mesh, crunch, dial, main, start, told


class Hub(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        busy = self.path == "/shard/2/2"
        self.send_response(429 if busy else 200)
        if busy:
            self.send_header("Retry-After", "45000")
        self.send_header("Content-Length", "4096")
        self.end_headers()
        self.wfile.write(b"\0" * 4096)

    def log_message(self, *_):
        pass


def fetch(url):
    while True:
        try:
            return urllib.request.urlopen(url).read()
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(float(error.headers.get("Retry-After", 1)))


def body(rank, world, port):
    hub = port + 20
    if rank == 0:
        start([sys.executable, __file__, "hub", str(hub)], "hub")
    mesh = Mesh(rank, world, port)
    dial(hub).close()
    for step in range(400):
        if step % 20 == 0:
            fetch("http://127.0.0.1:%d/shard/%d/%d" % (hub, rank, step // 20))
        crunch(0.15)
        mesh.mean("grad%d" % step, 0.1)
        if rank == 0:
            told(step)


if "hub" in sys.argv:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Hub).serve_forever()
main(3, body)
