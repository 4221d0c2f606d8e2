"""A coordinator with selectors collects 'ready' from all ranks each step and answers 'go'."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import selectors
import socket
import threading
import time

guard = threading.Lock()


def coordinator(srv, n):
    sel = selectors.DefaultSelector()
    sel.register(srv, selectors.EVENT_READ)
    ready = []
    while True:
        for key, _ in sel.select():
            if key.fileobj is srv:
                c, _ = srv.accept()
                sel.register(c, selectors.EVENT_READ)
            else:
                if not key.fileobj.recv(1):
                    sel.unregister(key.fileobj)
                    continue
                ready.append(key.fileobj)
                if len(ready) == n:
                    for c in ready:
                        c.send(b"g")
                    ready.clear()


def setup():
    srv = socket.create_server(("127.0.0.1", 0))
    kit.fork_child("coordinator", coordinator, srv, 4)
    return {"COORD": str(srv.getsockname()[1])}


def log_metrics(i):
    with guard:
        return i * 2


def save_checkpoint(i):
    if i == 13 and kit.RANK == 2:
        with guard:
            log_metrics(i)     # takes the same lock again


def run():
    s = kit.dial(int(os.environ["COORD"]))
    for i in range(1000):
        time.sleep(0.3)
        save_checkpoint(i)
        s.send(b"r")
        s.recv(1)
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run, setup)
