"""Two ranks and a small server of settings, which has no threads and speaks HTTP/1.1. Rank 0 keeps its connection open,
and the server waits for the next request on it. Rank 1, which asks for the first time in step 40, is not served, and
rank 0 waits for it in a sum.

slow: each closes its connection; an answer to rank 1 takes 48 s."""
import http.client
import http.server
import sys
import time

from kit20 import SLOW, STEPS, Line, again, crunch, main, start, told, with_parent


class Settings(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if SLOW and self.path == "/rank1":
            time.sleep(48)
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"1e-4")
        self.close_connection = SLOW

    def log_message(self, *words):
        pass


def settings(links, rank, port):
    if SLOW or rank not in links:
        links[rank] = http.client.HTTPConnection("127.0.0.1", port)
    links[rank].request("GET", "/rank%d" % rank)
    return float(links[rank].getresponse().read())


def body(rank, world, port):
    if rank == 0:
        start(again("serve") + [str(port + 7)], "server")
        time.sleep(1)
    links, line = {}, Line(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        line.sum(0.4)
        if rank == 0:
            told(step)
        if step % 10 == 0 and rank == 0 or step == 40:
            settings(links, rank, port + 7)


if "serve" in sys.argv:
    with_parent()
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[-1])), Settings).serve_forever()
else:
    main(2, body)
