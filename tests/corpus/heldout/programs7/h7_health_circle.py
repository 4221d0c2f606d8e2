"""Rank 0 serves "ready" when both workers are registered; workers register when rank 0 is ready. All ask again and again, as they should."""
import http.server
import os
import threading
import time

import kit7

members = set()


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/register"):
            members.add(self.path)
        self.send_response(200 if len(members) == 2 or self.path != "/health" else 503)
        self.end_headers()

    def log_message(self, *words):
        pass


def train(rank, world, port):
    if rank == 0:
        threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", port), Health).serve_forever, daemon=True).start()
        while len(members) < 2:
            time.sleep(0.5)
        return print("all workers are there", flush=True)
    kit7.dial(port).close()
    print("worker %s waits for the head" % os.environ["WORKER_ID"], flush=True)
    while kit7.http_get(port, "/health")[0] != 200:
        time.sleep(1)
    kit7.http_get(port, "/register/%d" % rank)


kit7.ranks(3, train, "worker")
