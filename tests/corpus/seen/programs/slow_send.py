"""Rank 2 ships activations to a slow logger that takes 20 KB a second: its send stays blocked but moves."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import time


def sink(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    while s.recv(10240):
        time.sleep(0.5)


def run():
    kit.services(2)
    group = kit.Ring()
    if kit.RANK == 2:
        a, b = socket.socketpair()
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        kit.fork_child("sink2", lambda: (a.close(), sink(b)))
        b.close()
    for i in range(16):
        time.sleep(0.25)
        if kit.RANK == 2:
            a.sendall(b"a" * (2000 if i != 9 else int(kit.secs(65) * 20480)))
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)
    if kit.RANK == 2:
        a.close()
        os.wait()


kit.main(3, run)
