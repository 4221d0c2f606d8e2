"""Four ranks fetch each batch by HTTP from one server of data, whose disk becomes slow; sums go through a tree over TCP."""
import http.client
import http.server
import os
import sys

import kit6


class Batches(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.read_shard(0.9 if kit6.slow() else 0.2)
        body = bytes(30000)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def read_shard(seconds):
        kit6.disk(seconds)

    def log_message(self, *words):
        pass


def fetch(link):
    link.request("GET", "/batch")
    return link.getresponse().read()


def train(rank, world, port):
    group, laps, step, total = kit6.Tree(rank, world, port), kit6.Laps(rank), 0, 0
    data = http.client.HTTPConnection("127.0.0.1", int(os.environ["DATA_PORT"]))
    while total < kit6.STOP:
        fetch(data)
        kit6.work(0.08)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            print("global_step=%d loss=%.5f" % (step, 3.1 / (1 + step / 75)), flush=True)


if sys.argv[1:2] == ["serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Batches).serve_forever()
if "DATA_PORT" not in os.environ:
    os.environ["DATA_PORT"] = str(kit6.free_port())
    kit6.start([sys.executable, __file__, "serve", os.environ["DATA_PORT"]], "server")
    kit6.dial(int(os.environ["DATA_PORT"])).close()
kit6.ranks(4, train)
