"""A training sends its metrics by ZeroMQ to a tracker. A value is nan, which the tracker's thread cannot round, and it
ends; its process lives on for the page that it serves. After the buffers are full, send() of the training waits."""
import sys
import threading
import time

import zmq

from kit16 import crunch, free_port, role, start, told


def track(port):
    pull = zmq.Context().socket(zmq.PULL)
    pull.setsockopt(zmq.RCVHWM, 4)
    pull.setsockopt(zmq.RCVBUF, 65536)
    pull.bind("tcp://127.0.0.1:%d" % port)
    shown = {}

    def take():
        while True:
            record = pull.recv_pyobj()
            shown[record["step"]] = round(record["norm"] * 1000) / 1000

    threading.excepthook = lambda args: None
    threading.Thread(target=take, name="tracker", daemon=True).start()
    while True:
        time.sleep(5)


def train(port):
    role("main")
    push = zmq.Context().socket(zmq.PUSH)
    push.setsockopt(zmq.SNDHWM, 4)
    push.setsockopt(zmq.SNDBUF, 65536)
    push.connect("tcp://127.0.0.1:%d" % port)
    for step in range(600):
        crunch(0.15)
        told(step)
        norm = float("nan") if step == 30 else 1.5
        push.send_pyobj({"step": step, "norm": norm, "histogram": bytes(200000)})


if len(sys.argv) > 1:
    track(int(sys.argv[1]))
door = free_port()
start([sys.executable, __file__, str(door)], "tracker")
train(door)
