"""A server of embeddings with two slots. Two requests of too long texts failed and never gave theirs back; all ranks wait for the third answer."""
import os
import socketserver
import sys
import threading

import kit7

slots = threading.Semaphore(2)


class Embed(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            slots.acquire()
            kit7.crunch(0.05)
            if len(line) > 512:
                self.wfile.write(b"error: too long\n")
                continue
            slots.release()
            self.wfile.write(b"0.25 0.5\n")


def train(rank, world, port):
    link = kit7.dial(int(os.environ["EMBED_PORT"])).makefile("rw")
    for step in range(1000):
        kit7.crunch(0.2)
        link.write("x" * (900 if step == 18 + rank and rank < 2 else 40) + "\n")
        link.flush()
        kit7.row(step, rank=rank, answer=link.readline()[:6])


if sys.argv[1:]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Embed)
    server.serve_forever()
if "EMBED_PORT" not in os.environ:
    os.environ["EMBED_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, os.environ["EMBED_PORT"]], "server")
kit7.ranks(3, train, "slurm")
