"""Two stages of a pipeline talk through a relay process; the far stage waits for its own decoder."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import select
import socket
import time


def pump(srv, port):
    a, _ = srv.accept()
    b = kit.dial(port)
    while True:
        for s in select.select([a, b], [], [])[0]:
            data = s.recv(65536)
            if not data:
                return
            (b if s is a else a).sendall(data)


def setup():
    front = socket.create_server(("127.0.0.1", 0))
    back = kit.free_port()
    kit.fork_child("relay", pump, front, back)
    return {"FRONT": str(front.getsockname()[1]), "BACK": str(back)}


def decoder(s):
    n = 0
    while True:
        s.recv(10)
        n += 1
        if n < 15:
            s.send(b"frame")


def run():
    kit.services(2)
    if kit.RANK == 1:
        mine, other = socket.socketpair()
        srv = socket.create_server(("127.0.0.1", int(os.environ["BACK"])))
        pid = kit.fork_child("decoder1", lambda: (mine.close(), decoder(other)))
        other.close()
        link, _ = srv.accept()
        while True:
            x = kit.recv_msg(link)
            mine.send(b"next")
            mine.recv(10)
            kit.send_msg(link, x + 1)
    link = kit.dial(int(os.environ["FRONT"]))
    for i in range(1000):
        time.sleep(0.3)
        kit.send_msg(link, i)
        kit.recv_msg(link)
        kit.step(i)


kit.main(2, run, setup)
