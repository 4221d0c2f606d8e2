"""A service of one thread (http.server) gives out samples and keeps connections open. Rank 0 has its
connection open and waits for rank 1; rank 1, which wants samples for the first time after the warm-up, has
connected, and the service serves rank 0's connection until that closes it."""
import http.client
import http.server
import sys
import time

from kit14 import Store, crunch, free_port, main, me, start, told


class Samples(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"[1, 2, 3]"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def serve(port):
    me("service")
    http.server.HTTPServer(("127.0.0.1", port), Samples).serve_forever()


def samples(connection):
    connection.request("GET", "/next")
    return len(connection.getresponse().read())


def body(rank, world, port):
    store = Store(rank, world, port)
    if rank == 0:
        door = free_port()
        start([sys.executable, __file__, "serve", str(door)], "service")
        time.sleep(1)
        store.set("samples", door)
    connection = http.client.HTTPConnection("127.0.0.1", store.get("samples"))
    for step in range(120):
        if rank == 0 or step >= 55:
            samples(connection)
        crunch(0.14)
        store.all_reduce("grad/%d" % step, 0.5)
        if rank == 0:
            told(step)


serve(int(sys.argv[2])) if "serve" in sys.argv else main(2, body)
