"""A receive with a limit of 60 s; the message is optional."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket


def run():
    ring = kit.Ring()
    a, b = socket.socketpair()
    a.settimeout(60)
    for i in range(24):
        kit.work(0.2)
        if i == 14 and kit.rank() == 2:
            try:
                a.recv(1)
            except TimeoutError:
                print("no early stop asked", flush=True)
        ring.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
