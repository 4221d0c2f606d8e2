"""Three ranks want a tokenizer: the one that gets the lock of the cache loads it from a slow mirror, for 50
s, the others wait for the lock and find the file."""
import fcntl
import http.server
import os
import sys
import time
import urllib.request

from kit14 import Store, crunch, free_port, main, me, start, told


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "51200")
        self.end_headers()
        for _ in range(50):
            self.wfile.write(bytes(1024))
            self.wfile.flush()
            time.sleep(1)

    def log_message(self, *words):
        pass


def serve(port):
    me("mirror")
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Mirror).serve_forever()


def cached(port):
    with open("tokenizer.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists("tokenizer.json"):
            with urllib.request.urlopen("http://127.0.0.1:%d/tokenizer.json" % port) as answer:
                body = answer.read()
            with open("tokenizer.json", "wb") as f:
                f.write(body)
    return os.path.getsize("tokenizer.json")


def body(rank, world, port):
    store = Store(rank, world, port)
    if rank == 0:
        mirror = free_port()
        start([sys.executable, __file__, "mirror", str(mirror)], "mirror")
        store.set("mirror", mirror)
    mirror = store.get("mirror")
    for step in range(80):
        crunch(0.13)
        if step == 60:
            cached(mirror)
        store.all_reduce("grad/%d" % step, 1)
        if rank == 0:
            told(step)


serve(int(sys.argv[2])) if "mirror" in sys.argv else main(3, body)
