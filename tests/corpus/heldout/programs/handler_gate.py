"""Handlers of a socketserver meet in a barrier; rank 2 opens a FIFO that nobody writes."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socketserver
import tempfile
import threading

r = kit.rank()
gate = threading.Barrier(2)


class Meet(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            gate.wait()
            self.wfile.write(line)


class Srv(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def read_feed(d):
    with open(d + "/feed") as f:
        return f.read()


def run():
    if r == 0:
        Srv(("127.0.0.1", kit.port()), Meet).serve_forever()
    s = kit.dial(kit.port()).makefile("rwb", buffering=0)
    d = tempfile.mkdtemp()
    os.mkfifo(d + "/feed")
    for i in range(1000):
        kit.work(0.3)
        if i == 15 and r == 2:
            read_feed(d)
        s.write(b"%d\n" % i)
        s.readline()
        if r == 1:
            kit.step(i)


kit.go(3, run)
