"""Rank 1 fetches weights by HTTP from rank 0, whose handler needs a lock that its main thread has."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import http.server
import threading
import urllib.request

r = kit.rank()
guard = threading.Lock()


class Weights(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with guard:
            body = b"w" * 100
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def pull():
    return urllib.request.urlopen("http://127.0.0.1:%d/w" % kit.port(9)).read()


def run():
    if r == 0:
        s = http.server.ThreadingHTTPServer(("127.0.0.1", kit.port(9)), Weights)
        threading.Thread(target=s.serve_forever, daemon=True).start()
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        if i % 5 == 4 and r == 1 and i < 15:
            pull()
        if i == 16 and r == 1:
            kit.work(0.4)
            pull()
        if i == 16 and r == 0:
            with guard:
                comm.all_reduce(1)
        else:
            comm.all_reduce(1)
        if r == 0:
            kit.step(i)


kit.go(3, run)
