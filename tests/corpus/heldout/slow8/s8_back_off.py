"""Three workers. The rewards of worker 0 come from a service that now says "too many requests" at first, and it waits as told."""
import os
import sys
import time
import http.client
import http.server

import kits8


class Reward(http.server.BaseHTTPRequestHandler):
    protocol_version, seen = "HTTP/1.1", set()

    def do_GET(self):
        first = self.path not in self.seen
        self.seen.add(self.path)
        self.send_response(429 if first and kits8.slow() else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


def reward(link, step):
    while True:
        link.request("GET", "/reward/%d" % step)
        answer = link.getresponse()
        answer.read()
        if answer.status == 200:
            return
        time.sleep(0.8)


def train(rank, n, port):
    link = http.client.HTTPConnection("127.0.0.1", int(os.environ["REWARD_PORT"]))

    def before(step):
        if rank == 0:
            reward(link, step)
        kits8.work(0.06)
        kits8.disk(0.35)
    kits8.loop(rank, kits8.Star(rank, n, port), before, lambda s: '{"update": %d, "reward": %.3f}' % (s, s / 90))


if sys.argv[1:2] == ["serve"]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Reward).serve_forever()
if "REWARD_PORT" not in os.environ:
    os.environ["REWARD_PORT"] = str(kits8.free_port())
    kits8.start([sys.executable, __file__, "serve", os.environ["REWARD_PORT"]], "server")
    kits8.dial(int(os.environ["REWARD_PORT"])).close()
kits8.ranks(3, train, "PART")
