"""Labels are asked of a service with a quota. It answers 429 with Retry-After: 70, and the client sleeps for so long, and
prints nothing."""
import http.server
import sys
import time
import urllib.error
import urllib.request

from kit25 import OWN, STALL, Log, free_port, role, start


class Labels(http.server.BaseHTTPRequestHandler):
    since = None

    def do_GET(self):
        cls = type(self)
        if self.path == "/%d" % STALL and cls.since is None:
            cls.since = time.monotonic()
        used_up = cls.since is not None and time.monotonic() < cls.since + 69
        self.send_response(429 if used_up else 200)
        self.send_header("Retry-After", "70")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def label(port, step):
    while True:
        try:
            return urllib.request.urlopen("http://127.0.0.1:%s/%d" % (port, step)).close()
        except urllib.error.HTTPError as error:
            time.sleep(int(error.headers["Retry-After"]))


def prepare():
    role("main")
    port, log = str(free_port()), Log("plain")
    start(OWN + ["labels", port], "labels")
    time.sleep(1)
    for step in range(120):
        label(port, step)
        time.sleep(0.22)
        log(step, 1.0)


if "labels" in sys.argv:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Labels).serve_forever()
else:
    prepare()
