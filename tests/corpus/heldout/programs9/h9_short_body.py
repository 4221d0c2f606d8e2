"""A store of models tells the length of a file and sends what a filter has left of it, over a connection that stays open."""
import http.client
import http.server
import os
import sys

import kit9


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"0123456789\n" * 3000
        filtered = body.replace(b"9\n", b"\n") if self.path.endswith("11") else body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(filtered)

    def log_message(self, *words):
        pass


def train(rank, n, port):
    ring = kit9.Ring(rank, n, port)
    store = http.client.HTTPConnection("127.0.0.1", int(os.environ["STORE_PORT"]))
    for s in range(60):
        kit9.crunch(0.2)
        if rank == 2:
            store.request("GET", "/adapter/%d" % s)
            store.getresponse().read()
        ring.reduce(1.0)
        kit9.step(rank, s, 60)


if sys.argv[1:] == ["store"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["STORE_PORT"])), Handler).serve_forever()
if "STORE_PORT" not in os.environ:
    os.environ["STORE_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "store"], "store")
    kit9.dial(int(os.environ["STORE_PORT"])).close()
kit9.main(4, train, "arg")
