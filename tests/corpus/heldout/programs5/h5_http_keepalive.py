"""A label server of one thread keeps connections open. Rank 0 has one and goes to the reduce; rank 1's request is never read."""
import http.client
import http.server
import sys

import kit5


class Labels(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"42")

    def log_message(self, *_):
        pass


def ask(connection, n):
    connection.request("GET", "/label/%d" % n)
    return connection.getresponse().read()


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    for step in range(1000):
        connection = http.client.HTTPConnection("127.0.0.1", int(kit5.os.environ["LABELS"]))
        ask(connection, step)
        if step < 8 or rank:
            connection.close()  # from step 8 on rank 0 keeps it, to be faster
        kit5.crunch(0.2)
        mesh.reduce(1)
        print("rank", rank, "step", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), Labels).serve_forever()
if "RANK" not in kit5.os.environ:
    kit5.os.environ["LABELS"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["LABELS"]], "server")
    kit5.time.sleep(1)
kit5.ranks(2, train)
