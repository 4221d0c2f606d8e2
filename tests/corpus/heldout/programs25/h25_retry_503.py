"""Two ranks; rank 1 gets its shards from a store over HTTP and tries again at a 503, after a while that grows up to 10 s.
The store's thread that fills its cache has died, and it answers 503 for ever: "warming up".

slow: the thread needs 70 s."""
import http.server
import sys
import threading
import time
import urllib.error
import urllib.request

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, Star, main, start

cache = {}


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        shard = int(self.path.rpartition("/")[2])
        self.send_response(200 if shard in cache else 503)
        self.end_headers()
        self.wfile.write(b"x" * 1000 if shard in cache else b"warming up")

    def log_message(self, *_):
        pass


def fill():
    for shard in range(STEPS // 10):
        if shard == STALL // 10:
            if not SLOW:
                return
            time.sleep(70 + 23)
        cache[shard] = True


def fetch(port, shard):
    pause = 0.5
    while True:
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/shards/%d" % (port, shard)) as answer:
                return answer.read()
        except urllib.error.URLError:
            time.sleep(pause)
            pause = min(10, pause * 2)


def body(rank, world, port):
    if rank == 1:
        start(OWN + ["store", str(port)] + sys.argv[1:], "store")
    star, model, log = Star(rank, world), Model(rank), Log("json")
    for step in range(STEPS):
        if rank == 1 and step % 10 == 0:
            fetch(port, step // 10)
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "store" in sys.argv:
    threading.Thread(target=fill, daemon=True).start()
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Store).serve_forever()
else:
    main(2, body)
