"""Rank 1 tries for ever to reach a port where nobody listens."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket
import time


def connect(addr):
    delay = 0.2
    while True:
        try:
            return socket.create_connection(addr, 5)
        except OSError:
            time.sleep(delay)
            delay = min(8, delay * 2)


def run():
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 1:
            connect(("127.0.0.1", kit.port(30)))
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
