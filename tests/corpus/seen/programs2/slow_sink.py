"""Ranks push samples by ZeroMQ to a sink that takes one every three seconds: they are mostly held up, yet all goes on."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time
import zmq


def sink(addr, n):
    s = zmq.Context().socket(zmq.PULL)
    s.setsockopt(zmq.RCVHWM, 1)
    s.bind(addr)
    for _ in range(n):
        s.recv()
        time.sleep(kit.secs(3))


def run():
    s = zmq.Context().socket(zmq.PUSH)
    s.setsockopt(zmq.SNDHWM, 1)
    s.connect("ipc://" + kit.tmp("sink"))
    for i in range(12):
        time.sleep(0.3)
        s.send(bytes(1 << 20))
        print(f"[rank {kit.RANK}] sent sample {i}", flush=True)
    s.close()


kit.main(2, run, lambda: kit.fork_child("sink", sink, "ipc://" + kit.tmp("sink"), 24) and None)
