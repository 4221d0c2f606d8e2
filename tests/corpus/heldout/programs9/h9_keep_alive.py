"""A configuration server of http.server that speaks HTTP/1.1: one connection at a time. Rank 0 keeps its own open for later."""
import http.client
import http.server
import json
import os
import sys
import time

import kit9


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = json.dumps({"batch_size": 32, "mix": {"web": 0.7, "code": 0.3}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(50):
        kit9.crunch(0.2)
        if s == 14:
            time.sleep(0.8 * rank)
            config = http.client.HTTPConnection("127.0.0.1", int(os.environ["CONFIG_PORT"]))
            config.request("GET", "/stage/2")
            json.loads(config.getresponse().read())
        hub.reduce(1.0)
        kit9.step(rank, s, 50)


if sys.argv[1:] == ["config"]:
    http.server.HTTPServer(("127.0.0.1", int(os.environ["CONFIG_PORT"])), Handler).serve_forever()
if "CONFIG_PORT" not in os.environ:
    os.environ["CONFIG_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "config"], "config")
kit9.main(2, train)
