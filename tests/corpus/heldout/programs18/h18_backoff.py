"""Three ranks sum their gradients; rank 1 reads its batches from a service over HTTP, which is overloaded now and then.
After a failure rank 1 waits, each time 60 times as long as before, and a success does not set that back: the third
failure since the start lets it sleep for 720 s.

slow: 15 times as long, which comes to 45 s."""
import http.client
import http.server
import sys
import time

from kit18 import SLOW, STEPS, Desk, again, crunch, dial, main, me, start, told


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def do_GET(self):
        Service.asked += 1
        body = b"0.25" * 10
        self.send_response(503 if Service.asked in (10, 20, 35) else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Client:
    def __init__(self, port):
        self.port, self.delay = port, 0.2

    def ask(self, k):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/batch/%d" % k)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status == 200

    def fetch(self, k):
        while not self.ask(k):
            time.sleep(self.delay)
            self.delay *= 15 if SLOW else 60


def body(rank, world, port):
    if rank == 0:
        start(again("serve") + ["at", str(port + 1)], "service")
    desk, client = Desk(rank, world, port), Client(port + 1)
    if rank == 1:
        dial(port + 1).close()
    for step in range(STEPS):
        if rank == 1:
            client.fetch(step)
        crunch(0.2)
        desk.mean("grad%d" % step, 0.1)
        if rank == 0:
            told(step)


if "serve" in sys.argv:
    me("service")
    port = int(sys.argv[sys.argv.index("at") + 1])
    http.server.HTTPServer(("127.0.0.1", port), Service).serve_forever()
else:
    main(3, body)
