"""Helpers of the fifteenth set: those of the fourteenth, and a server of keys by HTTP."""
import http.server
import json
import os
import sys
import threading
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs14"))
from kit14 import (SLOW, Store, crunch, dial, free_port, listen, main, me, receive, role, send, start,  # noqa: E402,F401
                   told, unlink_shared, with_parent)


class Web:
    """put(key, value), take(key): the answer comes when it is there. One server of threads, started by rank 0."""

    def __init__(self, rank, world, port):
        self.rank, self.world, self.url = rank, world, "http://127.0.0.1:%d/" % port
        if rank == 0:
            start([sys.executable, os.path.abspath(__file__), str(port)], "keys")
        dial(port).close()

    def put(self, key, value):
        urllib.request.urlopen(urllib.request.Request(self.url + key, json.dumps(value).encode(), method="PUT")).read()

    def take(self, key):
        return json.loads(urllib.request.urlopen(self.url + key).read())

    def mean(self, key, x):
        self.put("%s/%d" % (key, self.rank), x)
        return sum(self.take("%s/%d" % (key, r)) for r in range(self.world)) / self.world


def serve(port):
    keys, changed = {}, threading.Condition()

    class Keys(http.server.BaseHTTPRequestHandler):
        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with changed:
                keys[self.path] = body
                changed.notify_all()
            self.answer(b"{}")

        def do_GET(self):
            with changed:
                changed.wait_for(lambda: self.path in keys)
            self.answer(keys[self.path])

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", port), Keys).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
