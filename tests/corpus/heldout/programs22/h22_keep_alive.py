"""Two ranks over TCP, and a server of settings over HTTP that answers one connection after the other. Rank 0 has a session that
keeps its connection, so the server waits for its next request; rank 1 asks at step 30 and is not accepted. Rank 0 waits
for rank 1's part of a sum. As a program with a port: the server.

slow: each request has a connection of its own, and rank 1's takes 48 s."""
import http.client
import http.server
import os
import sys
import time

from kit22 import SLOW, STEPS, Mesh, Model, main, start


class Settings(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0" if SLOW else "HTTP/1.1"

    def do_GET(self):
        if SLOW and self.path == "/rate/1/30":
            time.sleep(48)
        body = b"0.1"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def rate(session, rank, step):
    session.request("GET", "/rate/%d/%d" % (rank, step))
    return float(session.getresponse().read())


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)] + sys.argv[1:], "server")
    mesh, model = Mesh(rank, world, port), Model(rank)
    time.sleep(1)
    session, at = http.client.HTTPConnection("127.0.0.1", port + 20), 0.1
    for step in range(STEPS):
        if step % 10 == 0 and rank == 0 or rank == 1 and step == 30:
            at = rate(session, rank, step)
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())), at)
        if rank == 0:
            model.told(step)


if "serve" in sys.argv:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Settings).serve_forever()
else:
    main(2, body)
