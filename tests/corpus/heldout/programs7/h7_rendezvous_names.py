"""Workers join by HTTP under the name of their host; two have the same one, and the server waits for a third."""
import http.server
import os
import sys
import threading

import kit7


class Rendezvous(http.server.BaseHTTPRequestHandler):
    members, changed = set(), threading.Condition()

    def do_GET(self):
        with self.changed:
            self.members.add(self.path)
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(self.members) == 3)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


def train(rank, world, port):
    host = "node-%d" % (rank if rank < 2 else 1)
    print("[%s] joining rendezvous" % host, flush=True)
    kit7.http_get(int(os.environ["RDZV_PORT"]), "/join/" + host)
    print("[%s] world is complete" % host, flush=True)


if sys.argv[1:]:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Rendezvous).serve_forever()
if "RDZV_PORT" not in os.environ:
    os.environ["RDZV_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, os.environ["RDZV_PORT"]], "rendezvous")
    kit7.dial(int(os.environ["RDZV_PORT"])).close()
kit7.ranks(3, train, "worker")
