"""Training of one process that fetches each part of its data by HTTP. The server sends in chunks; for a part that it streams from its
compressed store it forgets the last, empty one, and keeps the connection.

slow: the end is sent; chunks come slowly, one of 2 kB in three seconds, for 69 s."""
import http.client
import http.server
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, os, start, role, time

EACH = 16


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def chunk(self, data):
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()

    def do_GET(self):
        part = int(self.path.rpartition("/")[2])
        packed = part == STALL // EACH
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(23):
            self.chunk(b"0.125\n" * 340)
            if SLOW and packed:
                time.sleep(3)
        if SLOW or not packed:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args):
        pass


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open("store.new", "w") as f:
        f.write(str(server.server_port))
    os.rename("store.new", "store")
    server.serve_forever()


class Store:
    def __init__(self):
        while not os.path.exists("store"):
            time.sleep(0.05)
        with open("store") as f:
            self.connection = http.client.HTTPConnection("127.0.0.1", int(f.read()))

    def fetch(self, part):
        self.connection.request("GET", "/parts/%d" % part)
        return [float(x) for x in self.connection.getresponse().read().split()]


def train():
    role("main")
    start(OWN + sys.argv[1:] + ["serve"], "server")
    store, model, report = Store(), Model(), Report("bar")
    for step in range(STEPS):
        if step % EACH == 0:
            rows = store.fetch(step // EACH)
        model.update(model.gradient() + 1e-6 * rows[step % EACH])
        report(step, model.loss())


if "serve" in sys.argv:
    serve()
else:
    train()
