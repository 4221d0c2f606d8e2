"""A trainer hands tasks to two workers by ZeroMQ (PUSH, PULL) and collects the results of each step. After some steps
a monitor that is to count the tasks is started and pulls from the same socket: every third task is its own, and nobody
works on it. The trainer waits for the results that are missing, the workers for tasks."""
import sys

import zmq
from kit17 import crunch, free_port, me, role, start, told

TASKS = 4


def work(port):
    context = zmq.Context()
    tasks, results = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    tasks.connect("tcp://127.0.0.1:%d" % port)
    results.connect("tcp://127.0.0.1:%d" % (port + 1))
    while True:
        task = tasks.recv_string()
        crunch(0.08)
        results.send_string(task)


def count(port):
    tasks = zmq.Context().socket(zmq.PULL)
    tasks.connect("tcp://127.0.0.1:%d" % port)
    counted = 0
    while True:
        tasks.recv_string()
        counted += 1


def train():
    role("main")
    port, context = free_port(), zmq.Context()
    tasks, results = context.socket(zmq.PUSH), context.socket(zmq.PULL)
    tasks.bind("tcp://127.0.0.1:%d" % port)
    results.bind("tcp://127.0.0.1:%d" % (port + 1))
    for name in ("worker0", "worker1"):
        start([sys.executable, *sys.argv, "work", str(port)], name)
    for step in range(400):
        crunch(0.1)
        if step == 30:
            start([sys.executable, *sys.argv, "count", str(port)], "monitor")
            crunch(1.5)
        for k in range(TASKS):
            tasks.send_string("%d %d" % (step, k))
        for _ in range(TASKS):
            results.recv_string()
        told(step)


if "work" in sys.argv:
    work(int(sys.argv[-1]))
elif "count" in sys.argv:
    me("monitor")
    count(int(sys.argv[-1]))
else:
    train()
