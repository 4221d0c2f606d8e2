"""Parameter server idle by design: two clients that compute 35 s a step."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import threading
import time


def server(srv):
    lock, value = threading.Lock(), [0.0]

    def client(c):
        while True:
            g = kit.recv_msg(c)
            with lock:
                value[0] += g
                v = value[0]
            kit.send_msg(c, v)

    while True:
        c, _ = srv.accept()
        threading.Thread(target=client, args=(c,), daemon=True).start()


def setup():
    srv = socket.create_server(("127.0.0.1", 0))
    kit.fork_child("server", server, srv)
    return {"PS": str(srv.getsockname()[1])}


def compute(seconds):
    end, x = time.time() + seconds, 0.0
    while time.time() < end:
        x += sum(k * 0.5 for k in range(3000))
        time.sleep(0.05)


def worker():
    s = kit.dial(int(os.environ["PS"]))
    for i in range(2):
        compute(kit.secs(35))
        kit.send_msg(s, 0.5)
        kit.recv_msg(s)
        kit.step(i)


kit.main(2, worker, setup)
