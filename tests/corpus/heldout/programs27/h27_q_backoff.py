"""A hub of models answers 429 for 55 s; main tries again after 2, 4, 8, 16 and 32 s, without a word. Healthy."""
import http.server
import os
import sys
import time
import urllib.error
import urllib.request

from kit27 import OWN, STALL, crunch, dial, free_port, role, start, tell


class Hub(http.server.BaseHTTPRequestHandler):
    begin = time.monotonic()

    def do_GET(self):
        self.send_response(200 if time.monotonic() - self.begin > 55 else 429)
        self.end_headers()
        self.wfile.write(b"x" * 100)

    def log_message(self, *args):
        pass


def fetch(port):
    for wait in (2, 4, 8, 16, 32, 64):
        try:
            return urllib.request.urlopen("http://127.0.0.1:%d/model" % port).read()
        except urllib.error.HTTPError:
            time.sleep(wait)
    sys.exit(1)


if "hub" in sys.argv:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Hub).serve_forever()
else:
    role("main")
    port = free_port()
    for step in range(110):
        crunch(0.2)
        tell(step, "step {step} loss {loss:.4f}")
        if step == STALL:
            start(OWN + ["hub", str(port)], "hub")
            dial(port).close()
            fetch(port)
