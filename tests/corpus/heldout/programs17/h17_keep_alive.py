"""Two ranks ask a service for hard samples by HTTP. The service handles one connection at a time. From step 40 on rank
0 keeps its connection open for the next time: the service reads from it for ever, the request of rank 1 is not even
accepted. Rank 0 waits for rank 1 in the sum.

slow: connections are closed; an answer to rank 1 takes the service 48 s."""
import http.client
import http.server
import sys

from kit17 import SLOW, Star, busy, crunch, main, start, told, with_parent


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/hard/1/40" and SLOW:
            busy(48)
        body = b"17 4 2211 90\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def hard_samples(rank, port, step, keep):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/hard/%d/%d" % (rank, step))
    answer = connection.getresponse().read()
    if not keep:
        connection.close()
    return connection, answer


def body(rank, world, port):
    star, kept = Star(rank, world, port), None
    if rank == 0:
        start([sys.executable, __file__, *sys.argv[1:], "serve", str(port + 9)], "server")
    star.mean("service", 0.0)
    crunch(0.6)
    for step in range(60 if SLOW else 400):
        crunch(0.2)
        if step % 10 == 0:
            if rank:
                crunch(0.3)
            kept, _ = hard_samples(rank, port + 9, step, step == 40 and rank == 0 and not SLOW)
        star.mean("grad%d" % step, 0.2)
        if rank == 0:
            told(step)


if "serve" in sys.argv:
    with_parent()
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[-1])), Service).serve_forever()
main(2, body, "env")
