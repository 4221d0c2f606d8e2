"""Rank 2 reads weights from a server that sends a little now and then; the others wait for it by a blocking store."""
import http.server
import sys
import time
import urllib.request

import kit5


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "28000")
        self.end_headers()
        for _ in range(140):
            time.sleep(0.5)
            self.wfile.write(b"w" * 200)


def train(rank, world, port):
    s = kit5.Store(kit5.store())
    if rank == 2:
        body = urllib.request.urlopen("http://127.0.0.1:%s/weights" % kit5.os.environ["WEB"]).read()
        s.set("weights", len(body))
    print("rank %d has %d bytes" % (rank, s.get("weights")), flush=True)
    for step in range(10):
        kit5.crunch(0.2)


if sys.argv[1:2] == ["serve"]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Slow).serve_forever()
if "RANK" not in kit5.os.environ:
    kit5.store()
    kit5.os.environ["WEB"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["WEB"]], "web", stderr=kit5.subprocess.DEVNULL)
    time.sleep(1)
    print("downloading weights", flush=True)
kit5.ranks(4, train)
