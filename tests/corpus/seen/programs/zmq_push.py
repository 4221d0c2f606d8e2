"""Rank 1 pulls samples over ZeroMQ from a feeder that was stopped."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import time


def feeder(path):
    import zmq
    s = zmq.Context().socket(zmq.PUSH)
    s.setsockopt(zmq.SNDHWM, 4)
    s.bind("ipc://" + path)
    n = 0
    while True:
        s.send(b"sample" * 50)
        time.sleep(0.25)
        n += 1
        if n == 18:
            os.kill(os.getpid(), signal.SIGSTOP)


def setup():
    kit.fork_child("feeder", feeder, kit.tmp("samples"))


def run():
    kit.services(1)
    group = kit.Star()
    if kit.RANK == 1:
        import zmq
        s = zmq.Context().socket(zmq.PULL)
        s.connect("ipc://" + kit.tmp("samples"))
    for i in range(1000):
        if kit.RANK == 1:
            s.recv()
        else:
            time.sleep(0.2)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
