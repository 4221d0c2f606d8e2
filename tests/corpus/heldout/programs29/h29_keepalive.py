"""Three ranks and a small HTTP server of the team (HTTPServer: one connection at a time, HTTP/1.1). Rank 0 has asked it for the
schedule with a connection that it keeps for the next time. Rank 1 posts its metrics after that: its connection is in the backlog, the
server reads rank 0's, rank 0 waits in the sum.

slow: connections are closed; the server draws curves for 66 s."""
import http.client
import http.server
import json
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Ring, busy, main, os, start, time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, thing):
        body = json.dumps(thing).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if SLOW:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer({"lr": 0.02})

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if SLOW and told["step"] == STALL:
            busy(66)
        self.answer({"kept": True})

    def log_message(self, *args):
        pass


def serve():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    with open("http.new", "w") as f:
        f.write(str(server.server_port))
    os.rename("http.new", "http.port")
    server.serve_forever()


class Board:
    def __init__(self):
        while not os.path.exists("http.port"):
            time.sleep(0.05)
        self.port, self.connection = int(open("http.port").read()), None

    def ask(self, method, path, thing=None, keep=False):
        c = self.connection or http.client.HTTPConnection("127.0.0.1", self.port)
        c.request(method, path, json.dumps(thing) if thing else None)
        answer = json.loads(c.getresponse().read())
        if keep and not SLOW:
            self.connection = c
        else:
            c.close()
        return answer


def body(rank, world, port):
    if rank == 0:
        start(OWN + sys.argv[1:] + ["serve"], "server")
    board, ring, model, report = Board(), Ring(rank, world), Model(rank), Report("json", rank)
    for step in range(STEPS):
        model.update(ring.mean("g%d" % step, model.gradient()))
        if rank == 0:
            report(step, model.loss())
        if rank == 1 and step % 10 == 0:
            board.ask("POST", "/metrics", {"step": step, "loss": model.loss()})
        if rank == 0 and step == STALL - 5:
            model.rate = board.ask("GET", "/schedule", keep=True)["lr"]


if "serve" in sys.argv:
    serve()
else:
    main(3, body)
