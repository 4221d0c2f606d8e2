"""Rank 0 asks the model hub for a revision; the hub answers 503 for ever. The others wait for what rank 0 has got."""
import http.server
import sys
import time
import urllib.error
import urllib.request

import kit4


class Busy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def download(url):
    delay = 0.5
    while True:
        try:
            return urllib.request.urlopen(url, timeout=20).read()
        except urllib.error.HTTPError:
            time.sleep(delay)
            delay = min(2.5, delay * 1.3)


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    if rank == 0:
        print("fetching config.json", flush=True)
        download("http://127.0.0.1:%d/model/config.json" % int(kit4.os.environ["HUB"]))
    hub.reduce(0)
    for i in range(100):
        kit4.crunch(0.2)
        hub.reduce(1)


if sys.argv[1:2] == ["serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Busy).serve_forever()
if "RANK" not in kit4.os.environ:
    kit4.os.environ["HUB"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "serve", kit4.os.environ["HUB"]], "modelhub", start_new_session=True)
    kit4.dial(int(kit4.os.environ["HUB"])).close()
kit4.main(4, train)
