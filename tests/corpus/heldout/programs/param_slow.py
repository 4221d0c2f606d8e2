"""Parameter server by threads; its clients compute 20 s between two pushes."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socketserver
import threading
import time

N = 2


class Push(socketserver.BaseRequestHandler):
    def handle(self):
        while True:
            try:
                x = kit.take(self.request)
            except SystemExit:
                return
            with self.server.guard:
                self.server.total += x
                kit.put(self.request, self.server.total)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    guard = threading.Lock()
    total = 0.0


def before(env):
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("server")
        Server(("127.0.0.1", int(env["MASTER_PORT"])), Push).serve_forever()


def run():
    s = kit.dial(kit.port())
    for i in range(10):
        kit.work(0.3)
        kit.put(s, 0.1)
        kit.step(i, kit.take(s))
    for i in range(10, 13):
        time.sleep(20)
        kit.put(s, 0.1)
        kit.step(i, kit.take(s))


kit.go(N, run, before=before)
