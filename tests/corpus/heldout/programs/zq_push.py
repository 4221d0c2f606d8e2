"""Ranks push samples to rank 2 by ZeroMQ until the queues are full; rank 2 wants a lock that an ended thread kept."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

import zmq

r = kit.rank()
guard = threading.Lock()


def run():
    ctx = zmq.Context()
    if r == 2:
        z = ctx.socket(zmq.PULL)
        z.setsockopt(zmq.RCVHWM, 2)
        z.bind("tcp://127.0.0.1:%d" % kit.port(3))
        n = 0
        while True:
            z.recv()
            n += 1
            if n == 40:
                t = threading.Thread(target=guard.acquire)
                t.start()
                t.join()
            with guard:
                pass
    z = ctx.socket(zmq.PUSH)
    z.setsockopt(zmq.SNDHWM, 2)
    z.connect("tcp://127.0.0.1:%d" % kit.port(3))
    kit.services(1)
    for i in range(1000):
        kit.work(0.25)
        z.send(bytes(1500000))
        kit.step(i)


kit.go(3, run)
