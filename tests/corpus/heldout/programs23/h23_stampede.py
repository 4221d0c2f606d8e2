"""Three ranks that talk by unix packets, and a store of features over HTTP. Who asks first for a feature computes it,
others wait meanwhile until it is there. The computation of one fails, and its mark stays: rank 1 asks again, and waits
like rank 2 for ever.

slow: the computation takes 95 s."""
import http.client
import http.server
import os
import sys
import threading
import time
import urllib.request

from kit23 import SLOW, STEPS, Line, Star, busy, crunch, main, start, told

LOCK, THERE, MADE = threading.Lock(), {}, {}


def compute_feature(key):
    crunch(0.05)
    if key == "30":
        if not SLOW:
            raise ZeroDivisionError("feature of an empty table")
        busy(95)
    return "%d" % (int(key) % 7)


def feature(key):
    with LOCK:
        first = key not in MADE
        made = MADE.setdefault(key, threading.Event())
    if first:
        THERE[key] = compute_feature(key)
        made.set()
    made.wait()
    return THERE[key]


class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = feature(self.path[1:]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        with open("store.log", "a") as f:
            print("error:", sys.exc_info()[1], file=f)


def ask(port, key):
    for _ in range(5):
        try:
            return urllib.request.urlopen("http://127.0.0.1:%d/%s" % (port, key)).read()
        except (OSError, http.client.HTTPException):
            time.sleep(0.3)
    raise SystemExit("no feature " + key)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)] + sys.argv[1:], "store")
    star, line = Star(rank, world), Line(rank)
    for step in range(STEPS):
        if rank:
            ask(port + 20, str(step))
        line.apply(star.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


if "serve" in sys.argv:
    Server(("127.0.0.1", int(sys.argv[2])), Store).serve_forever()
else:
    main(3, body)
