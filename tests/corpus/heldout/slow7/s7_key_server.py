"""Three ranks ask a server of features for each batch; the server, no rank, has to read them from a slow disk now."""
import os
import socketserver
import sys

import kit7


class Features(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.look_up(0.75 if kit7.slow() else 0.12)
            self.wfile.write(b"feature " + line)

    @staticmethod
    def look_up(seconds):
        kit7.disk(seconds)


def train(rank, world, port):
    link = kit7.dial(int(os.environ["FEATURE_PORT"])).makefile("rw")

    def before(step):
        link.write("%d\n" % step)
        link.flush()
        link.readline()
        kit7.work(0.06)
        kit7.disk(0.2)
    kit7.loop(rank, kit7.Hub(rank, world, port), before, lambda s: "[step %d] loss=%.4f" % (s, 3 / (1 + s / 40)))


if sys.argv[1:2] == ["serve"]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[2])), Features)
    server.daemon_threads = True
    server.serve_forever()
if "FEATURE_PORT" not in os.environ:
    os.environ["FEATURE_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, "serve", os.environ["FEATURE_PORT"]], "server")
    kit7.dial(int(os.environ["FEATURE_PORT"])).close()
kit7.ranks(3, train)
