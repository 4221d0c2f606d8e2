"""All ranks log to a collector through a unix datagram socket; the collector was stopped by Ctrl-Z."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import signal
import socket
import time


def collector(s):
    n = 0
    while True:
        s.recv(2000)
        n += 1
        if n == 40:
            os.kill(os.getpid(), signal.SIGSTOP)


def setup():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(kit.tmp("log"))
    kit.fork_child("collector", collector, s)
    s.close()


def run():
    kit.services(1)
    out = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    out.connect(kit.tmp("log"))
    group = kit.Mesh()
    for i in range(1000):
        time.sleep(0.2)
        group.barrier()
        out.send(f"rank {kit.RANK} step {i}".encode())
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
