"""Connect to a host whose backlog is full: no answer to the first packet."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket
import time


def serve(s):
    s.listen(0)
    fill = []
    for _ in range(3):
        c = socket.socket()
        c.setblocking(False)
        c.connect_ex(s.getsockname())
        fill.append(c)
    while True:
        time.sleep(100)


def before(env):
    env["STORE"] = str(kit.outside(serve))
    time.sleep(0.3)


def reach():
    while True:
        s = socket.socket()
        try:
            s.connect(("127.0.0.1", int(os.environ["STORE"])))
            return s
        except OSError:
            s.close()


def run():
    comm = kit.Star()
    kit.services(3)
    for i in range(1000):
        kit.work(0.25)
        if i == 14 and kit.rank() == 2:
            reach().recv(1)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run, before=before, reaper=False)
