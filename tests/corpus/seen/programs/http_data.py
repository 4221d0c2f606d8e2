"""Data server over HTTP; a handler waits for a cache slot that is never given back."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

slots = threading.Semaphore(10)


class Data(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        n = int(self.path.rsplit("/", 1)[1])
        if n % 3 == 0:
            slots.acquire()         # released only by an eviction that does not exist
        body = b"x" * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def serve():
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["MASTER_PORT"])), Data).serve_forever()


def setup():
    kit.fork_child("dataserver", serve)


def run():
    group = kit.Ring()
    while True:
        try:
            c = http.client.HTTPConnection("127.0.0.1", int(os.environ["MASTER_PORT"]))
            c.connect()
            break
        except OSError:
            time.sleep(0.1)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 2 or i < 3:
            c.request("GET", f"/shard/{i}")
            c.getresponse().read()
        group.allreduce(1)
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
