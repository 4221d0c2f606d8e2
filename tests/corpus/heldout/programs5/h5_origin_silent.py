"""Rank 3's prefetching thread asks a server for shards. The server has taken the request and waits on a lock that its own cleaner keeps."""
import http.server
import queue
import sys
import threading
import time
import urllib.request

import kit5

LOCK, SERVED = threading.Lock(), []


class Shards(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with LOCK:
            SERVED.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"data")

    def log_message(self, *_):
        pass


def clean(full):
    full.wait()
    with LOCK:
        threading.Event().wait()  # for readers to go, and nobody counts them


def serve(port):
    full = threading.Event()
    threading.Thread(target=clean, args=(full,), daemon=True).start()
    s = http.server.ThreadingHTTPServer(("127.0.0.1", port), Shards)
    threading.Thread(target=s.serve_forever).start()
    while len(SERVED) < 14:
        time.sleep(0.05)
    full.set()


def prefetch(q):
    n = 0
    while True:
        q.put(urllib.request.urlopen("http://127.0.0.1:%s/shard/%d" % (kit5.os.environ["ORIGIN"], n)).read())
        n += 1


def train(rank, world, port):
    group, q = kit5.Butterfly(rank, world, port), queue.Queue(2)
    if rank == 3:
        threading.Thread(target=prefetch, args=(q,), daemon=True).start()
    for step in range(1000):
        if rank == 3:
            q.get()
        kit5.crunch(0.2)
        group.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
else:
    if "RANK" not in kit5.os.environ:
        kit5.os.environ["ORIGIN"] = str(kit5.free_port())
        kit5.start([sys.executable, __file__, "serve", kit5.os.environ["ORIGIN"]], "origin")
        time.sleep(1)
    kit5.ranks(4, train)
