"""A meeting-point server with socketserver; it was told one member too many."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socketserver
import threading
import time


def serve():
    gate = threading.Barrier(4)     # three ranks and an evaluator that was never started

    class Member(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                if line.startswith(b"epoch"):
                    gate.wait()
                self.wfile.write(b"ok\n")

    class S(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with S(("127.0.0.1", int(os.environ["MASTER_PORT"])), Member) as s:
        s.serve_forever()


def setup():
    kit.fork_child("meeting", serve)


def run():
    kit.services(1)
    s = kit.dial(int(os.environ["MASTER_PORT"]))
    f = s.makefile("rw")

    def tell(word):
        f.write(word + "\n")
        f.flush()
        return f.readline()

    for i in range(1000):
        time.sleep(0.3)
        tell(f"step {i}")
        kit.step(i)
        if i == 12:
            tell("epoch 1")


kit.main(3, run, setup)
