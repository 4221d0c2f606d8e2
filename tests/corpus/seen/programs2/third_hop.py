"""Rank 2 reads from its loader, that one from a decoder, that one from a store; the store locks one file twice."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import fcntl
import socket
import time


def store(s, path):
    n = 0
    f = open(path, "a")
    while True:
        k = kit.recv_msg(s)
        n += 1
        fcntl.flock(f, fcntl.LOCK_EX)
        if kit.RANK == 2 and n == 24:
            g = open(path, "a")
            fcntl.flock(g, fcntl.LOCK_EX)
        fcntl.flock(f, fcntl.LOCK_UN)
        kit.send_msg(s, k)


def decoder(s):
    a, b = socket.socketpair()
    kit.fork_child(f"store{kit.RANK}", lambda: (a.close(), s.close(), store(b, kit.tmp(f"blob{kit.RANK}"))))
    b.close()
    while True:
        k = kit.recv_msg(s)
        kit.send_msg(a, k)
        kit.send_msg(s, kit.recv_msg(a))


def loader(w):
    a, b = socket.socketpair()
    kit.fork_child(f"decoder{kit.RANK}", lambda: (a.close(), os.close(w), decoder(b)))
    b.close()
    k = 0
    while True:
        time.sleep(0.35)
        k += 1
        kit.send_msg(a, k)
        kit.recv_msg(a)
        os.write(w, b"batch   ")


def run():
    r, w = os.pipe()
    kit.fork_child(f"loader{kit.RANK}", loader, w)
    os.close(w)
    group = kit.Star()
    for i in range(1000):
        os.read(r, 8)
        time.sleep(0.1)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "dict")


kit.main(3, run)
