"""Clients ask for what comes after their last event. The server has begun to count anew; it keeps main waiting for number 31."""
import http.server
import sys
import threading
import time

import kit8

events, change = [], threading.Condition()


class Feed(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        after = int(self.path.rpartition("=")[2])
        with change:
            change.wait_for(lambda: len(events) > after)
            body = "\n".join(events[after:]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def produce():
    for n in range(10 ** 6):
        time.sleep(0.25)
        with change:
            if n == 30:
                events.clear()
            if n < 50:
                events.append("rollout %d" % n)
                change.notify_all()


if sys.argv[1:]:
    threading.Thread(target=produce, daemon=True).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Feed).serve_forever()
kit8.role("main")
port, after = kit8.free_port(), 0
kit8.start([sys.executable, __file__, str(port)], "feed")
kit8.dial(port).close()
import urllib.request  # noqa: E402
while True:
    rows = urllib.request.urlopen("http://127.0.0.1:%d/events?after=%d" % (port, after)).read().decode().split("\n")
    after += len(rows)
    print("learned from", rows[-1], flush=True)
