"""Tries to reach a service that comes up late."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket
import time


def late(p):
    kit.die_with_parent()
    kit.role("service")
    time.sleep(64)
    s = kit.bind(p)
    while True:
        c, _ = s.accept()
        c.sendall(b"ready")
        c.close()


def connect(p):
    delay = 0.5
    while True:
        try:
            s = socket.create_connection(("127.0.0.1", p), 2)
            return s.recv(5)
        except OSError:
            time.sleep(delay)
            delay = min(delay * 1.5, 5)


def before(env):
    if os.fork() == 0:
        late(int(env["MASTER_PORT"]) + 20)


def run():
    comm = kit.Star()
    for i in range(18):
        kit.work(0.2)
        if i == 12 and kit.rank() == 0:
            print(connect(kit.port(20)), flush=True)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before)
