"""Rank 0 asks a store every 5 s whether its upload has been taken; it is after 70 s."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socketserver
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def store(w):
    start = []

    class H(BaseHTTPRequestHandler):
        def do_GET(self):
            start.append(time.time())
            body = b"done" if time.time() - start[0] > kit.secs(68) else b"busy"
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *a):
            pass

    s = ThreadingHTTPServer(("127.0.0.1", 0), H)
    os.write(w, str(s.server_address[1]).encode())
    os.close(w)
    s.serve_forever()


def uploaded():
    while urllib.request.urlopen(f"http://127.0.0.1:{os.environ['STORE']}/state").read() != b"done":
        time.sleep(kit.secs(5))


def run():
    group = kit.Ring()
    for i in range(18):
        time.sleep(0.25)
        if i == 11 and kit.RANK == 0:
            uploaded()
        group.barrier()
        if kit.RANK == 1:
            kit.step(i)


kit.main(3, run, lambda: {"STORE": kit.outside(store)})
