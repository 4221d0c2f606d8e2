"""A server of an API answers 429 with Retry-After: 64; the client keeps to it."""
import http.client
import http.server
import sys
import time

import kit7


class Limited(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Limited.asked += 1
        self.send_response(429 if Limited.asked == 13 else 200)
        self.send_header("Retry-After", "64")
        self.end_headers()

    def log_message(self, *words):
        pass


def fetch(port):
    while True:
        link = http.client.HTTPConnection("127.0.0.1", port)
        link.request("GET", "/caption")
        answer = link.getresponse()
        if answer.status == 200:
            return
        time.sleep(float(answer.headers["Retry-After"]))


if sys.argv[1:]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Limited).serve_forever()
kit7.role("main")
log, port = kit7.logger(), kit7.free_port()
kit7.start([sys.executable, __file__, str(port)], "server")
kit7.dial(port).close()
for n in range(24):
    fetch(port)
    kit7.crunch(0.2)
    log.info("captioned %d images", (n + 1) * 8)
