"""Four ranks count themselves in at a store and look every 200 ms whether the count is the number of ranks. Rank
2's request took long, it asked again, and was counted twice: the count is 4 before rank 3 comes, the others go
on, and 5 after that, which rank 3 does not take for 4. The others are at the next barrier."""
import http.server
import json
import os
import sys
import threading
import time
import urllib.request

from kit15 import crunch, dial, main, me, start, told

lock, counts = threading.Lock(), {}


class Counter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        what, key = self.path[1:].split("/", 1)
        if what == "add":
            with lock:
                counts[key] = counts.get(key, 0) + 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(counts.get(key, 0)).encode())

    def log_message(self, *_):
        pass


def ask(port, what, key):
    return json.loads(urllib.request.urlopen("http://127.0.0.1:%d/%s/%s" % (port, what, key)).read())


def barrier(rank, world, port, key):
    ask(port, "add", key)
    if (rank, key) == (2, "step-60"):
        print("rank 2: barrier request timed out, retrying", flush=True)
        ask(port, "add", key)
    while ask(port, "get", key) != world:
        time.sleep(0.2)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port)], "keys")
    dial(port).close()
    for step in range(200):
        crunch(0.12 if (rank, step) != (3, 60) else 2.0)
        if step % 5 == 0:
            barrier(rank, world, port, "step-%d" % step)
        if rank == 0:
            told(step)


if sys.argv[1:2] == ["serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Counter).serve_forever()
else:
    main(4, body)
