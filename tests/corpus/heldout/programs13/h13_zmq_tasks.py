"""A ventilator pushes tasks to two workers over ZeroMQ, in turns, and pulls as many results. Worker 1 has been killed:
the socket goes on to queue its share for it, and the ventilator waits for results that nobody works on."""
import os
import signal
import sys
import time

import zmq

from kit13 import me, role, start


def worker(k):
    me("worker%d" % k)
    context = zmq.Context()
    tasks, results = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    tasks.bind("ipc://tasks%d" % k)
    results.connect("ipc://results")
    for done in range(10 ** 6):
        task = tasks.recv_json()
        time.sleep(0.15)
        if k == 1 and done == 12:
            os.kill(os.getpid(), signal.SIGKILL)
        results.send_json({"task": task["task"], "score": task["task"] % 7})


def main():
    role("main")
    context = zmq.Context()
    tasks, results = context.socket(zmq.PUSH), context.socket(zmq.PULL)
    results.bind("ipc://results")
    for k in range(2):
        start([sys.executable, *sys.argv, str(k)], "worker%d" % k)
        tasks.connect("ipc://tasks%d" % k)
    time.sleep(1)
    for t in range(60):
        tasks.send_json({"task": t})
    for n in range(60):
        print("scored %d/60: %s" % (n, results.recv_json()), flush=True)


if __name__ == "__main__":
    worker(int(sys.argv[1])) if sys.argv[1:] else main()
