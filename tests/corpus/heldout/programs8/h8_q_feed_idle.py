"""A client asks a feed for what comes after its last event; between two rounds of rollouts the feed has nothing for 70 s."""
import http.server
import sys
import threading
import time
import urllib.request

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
    for n in range(45):
        time.sleep(70 if n == 25 else 0.25)
        with change:
            events.append("rollout %d" % n)
            change.notify_all()


if sys.argv[1:]:
    threading.Thread(target=produce, daemon=True).start()
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Feed).serve_forever()
port, after = kit8.free_port(), 0
kit8.start([sys.executable, __file__, str(port)], "feed")
kit8.dial(port).close()
while after < 45:
    rows = urllib.request.urlopen("http://127.0.0.1:%d/events?after=%d" % (port, after)).read().decode().split("\n")
    after += len(rows)
    print("learned from", rows[-1], flush=True)
