"""Four workers read their shards over HTTP, each from a mirror of its own. That of worker 3 is slow now."""
import http.client
import http.server
import os
import sys

import kits8


class Shard(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        late = kits8.slow() and sys.argv[-1] == "3"
        self.send_response(200)
        self.send_header("Content-Length", "40000")
        self.end_headers()
        for _ in range(10):
            kits8.disk(0.09 if late else 0.01)
            self.wfile.write(b"x" * 4000)

    def log_message(self, *words):
        pass


def train(rank, n, port):
    link = http.client.HTTPConnection("127.0.0.1", int(os.environ["MIRRORS"].split()[rank]))

    def before(step):
        link.request("GET", "/shard/%d" % step)
        link.getresponse().read()
        kits8.work(0.05)
        kits8.disk(0.2)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: "[node 0] it=%04d loss=%.5f" % (s, 3 / (1 + s / 40)))


if sys.argv[1:2] == ["mirror"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Shard).serve_forever()
if "MIRRORS" not in os.environ:
    ports = [str(kits8.free_port()) for _ in range(4)]
    os.environ["MIRRORS"] = " ".join(ports)
    for r, p in enumerate(ports):
        kits8.start([sys.executable, __file__, "mirror", p, str(r)], "mirror%d" % r)
        kits8.dial(int(p)).close()
kits8.ranks(4, train, "NODE_NO")
