"""Parameter server with one thread for each worker; staleness bound kept by a condition."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import threading
import time


class Server:
    def __init__(self, sock, n):
        self.cv = threading.Condition()
        self.clock = [0] * n
        self.value = 0.0
        self.sock = sock
        self.bound = 3

    def handle(self, c):
        r = kit.recv_msg(c)
        while True:
            g = kit.recv_msg(c)
            with self.cv:
                self.value += g
                self.clock[r] += 1
                # a worker that has left still counts: index n-1 never moves after its last step
                while min(self.clock) < self.clock[r] - self.bound:
                    self.cv.wait()
                self.cv.notify_all()
                v = self.value
            kit.send_msg(c, v)

    def serve(self):
        kit.role("server")
        while True:
            c, _ = self.sock.accept()
            threading.Thread(target=self.handle, args=(c,), daemon=True).start()


def setup():
    srv = socket.create_server(("127.0.0.1", 0))
    kit.fork_child("server", Server(srv, 5).serve)   # five slots, four workers come
    return {"PS": str(srv.getsockname()[1])}


def worker_main():
    kit.services(1)
    s = kit.dial(int(os.environ["PS"]))
    kit.send_msg(s, kit.RANK)
    for i in range(1000):
        time.sleep(0.3)
        kit.send_msg(s, 0.1)
        kit.recv_msg(s)
        kit.step(i)


kit.main(4, worker_main, setup)
