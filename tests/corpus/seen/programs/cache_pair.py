"""Rank 1 and its loader share an index lock; the rank asks the loader while it holds the lock."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import socket
import time


def loader(s, lock):
    while True:
        s.recv(10)
        with lock:
            s.send(b"item")


def run():
    kit.services(2)
    group = kit.Ring()
    lock = mp.get_context("fork").Lock()
    a, b = socket.socketpair()
    if kit.RANK == 1:
        kit.fork_child("loader1", lambda: (a.close(), loader(b, lock)))
        b.close()

    def fetch(i):
        a.send(b"want")
        return a.recv(10)

    def refresh_index(i):
        with lock:
            return fetch(i)

    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1:
            (refresh_index if i == 14 else fetch)(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
