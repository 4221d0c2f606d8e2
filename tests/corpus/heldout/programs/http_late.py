"""A web service that needs a minute for one answer."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import http.client
import http.server
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/embed/all":
            t = time.time() + 61
            while time.time() < t:
                sum(x * x for x in range(3000))
                time.sleep(0.02)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *a):
        pass


def before(env):
    s = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    env["EMBED"] = str(s.server_port)
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("server")
        s.serve_forever()
    s.server_close()


def ask(path):
    c = http.client.HTTPConnection("127.0.0.1", int(os.environ["EMBED"]))
    c.request("GET", path)
    return c.getresponse().read()


def run():
    comm = kit.Star()
    for i in range(16):
        kit.work(0.2)
        if kit.rank() == 1:
            ask("/embed/all" if i == 12 else "/embed/1")
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(2, run, before=before)
