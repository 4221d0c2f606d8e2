"""A preparation gets parts from a mirror that gives this one slowly, 40 kB in a second; the part has 3 MB."""
import http.server
import sys
import time
import urllib.request

from kit25 import OWN, STALL, Log, crunch, free_port, role, start


class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        slow = self.path == "/part-%d" % STALL
        self.send_response(200)
        self.send_header("Content-Length", "3000000" if slow else "3000")
        self.end_headers()
        for _ in range(75 if slow else 1):
            self.wfile.write(b"x" * (40000 if slow else 3000))
            time.sleep(1 if slow else 0)

    def log_message(self, *_):
        pass


def fetch(port, step):
    with urllib.request.urlopen("http://127.0.0.1:%s/part-%d" % (port, step)) as answer:
        with open("part", "wb") as f:
            f.write(answer.read())


def prepare():
    role("main")
    port, log = str(free_port()), Log("bar", "fetch")
    start(OWN + ["mirror", port], "mirror")
    time.sleep(1)
    for step in range(120):
        fetch(port, step)
        crunch(0.2)
        log(step, 1.0)


if "mirror" in sys.argv:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Mirror).serve_forever()
else:
    prepare()
