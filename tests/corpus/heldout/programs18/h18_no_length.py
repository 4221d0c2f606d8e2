"""A trainer reads shards from a server over one connection that is kept. Shards of the archive are sent without a
Content-Length, and the server does not close the connection either: the trainer reads until the end of the connection,
the server waits for the next request on it."""
import http.client
import http.server
import sys

from kit18 import again, crunch, dial, free_port, me, role, start, told


class Shards(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        shard, body = int(self.path.rpartition("/")[2]), b"tokens " * 200
        archived = shard == 4
        self.send_response(200)
        if not archived:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def read_shard(connection, shard):
    connection.request("GET", "/shard/%d" % shard)
    return connection.getresponse().read()


def train():
    role("main")
    port = free_port()
    start(again("serve") + ["at", str(port)], "server")
    dial(port).close()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for step in range(400):
        if step % 10 == 0:
            read_shard(connection, step // 10)
        crunch(0.2)
        told(step)


if "serve" in sys.argv:
    me("server")
    at = ("127.0.0.1", int(sys.argv[sys.argv.index("at") + 1]))
    http.server.HTTPServer(at, Shards).serve_forever()
else:
    train()
