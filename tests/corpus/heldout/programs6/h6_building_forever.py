"""Ranks ask a service for an index until it is there: 202 means that it is being built. The thread that builds it has failed."""
import http.server
import os
import sys
import threading
import time

import kit6


class Index(http.server.BaseHTTPRequestHandler):
    status = 202

    def do_GET(self):
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *words):
        pass


def build():
    time.sleep(3)
    raise MemoryError("cannot allocate 31.2 GiB for the centroids")


def serve(port):
    threading.Thread(target=build).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Index).serve_forever()


def search(rank, world, port):
    print("rank", rank, "waits for the index", flush=True)
    while kit6.http_get(int(os.environ["INDEX"]), "/index")[0] != 200:
        time.sleep(0.5)


if sys.argv[1:]:
    serve(int(sys.argv[1]))
else:
    if "INDEX" not in os.environ:
        os.environ["INDEX"] = str(kit6.free_port())
        kit6.start([sys.executable, __file__, os.environ["INDEX"]], "index", stderr=open("index.err", "w"))
        kit6.crunch(1)
    kit6.ranks(2, search, "agent")
