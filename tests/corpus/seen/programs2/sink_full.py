"""Ranks push samples to a sink by ZeroMQ; the sink's writer thread has returned, its queue is full, all stands."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time
import zmq


def write(q):
    for _ in range(40):
        q.get()
        time.sleep(0.02)


def sink(addr):
    q = queue.Queue(4)
    threading.Thread(target=write, args=(q,), name="writer", daemon=True).start()
    s = zmq.Context().socket(zmq.PULL)
    s.setsockopt(zmq.RCVHWM, 1)
    s.bind(addr)
    while True:
        q.put(len(s.recv()))


def run():
    s = zmq.Context().socket(zmq.PUSH)
    s.setsockopt(zmq.SNDHWM, 1)
    s.setsockopt(zmq.LINGER, 0)
    s.connect("ipc://" + kit.tmp("sink"))
    for i in range(1000):
        time.sleep(0.4)
        s.send(bytes(1 << 20))


kit.main(3, run, lambda: kit.fork_child("sink", sink, "ipc://" + kit.tmp("sink")) and None)
