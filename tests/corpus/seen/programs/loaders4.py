"""Four loader processes for each rank, an index queue for each; loader 2 of rank 1 asks its decoding helper, which was stopped."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import signal
import socket
import time


def helper(s):
    kit.role(f"helper{kit.RANK}")
    n = 0
    while s.recv(64):
        n += 1
        if n == 5 and kit.RANK == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        s.send(b"pixels")


def loader(k, todo, out, side):
    kit.role(f"loader{kit.RANK}_{k}")
    while True:
        idx = todo.get()
        if k == 2:
            side.send(b"decode")
            side.recv(64)
        time.sleep(0.02)
        out.put((idx, [idx] * 4))


class Loader:
    def __init__(self):
        ctx = mp.get_context("fork")
        a, b = socket.socketpair()
        self.out = ctx.Queue()
        self.todo = [ctx.Queue() for _ in range(4)]
        jobs = [ctx.Process(target=helper, args=(b,), daemon=True)]
        jobs += [ctx.Process(target=loader, args=(k, self.todo[k], self.out, a), daemon=True) for k in range(4)]
        for p in jobs:
            p.start()
        self.sent = self.next = 0
        self.have = {}
        for _ in range(8):
            self.order()

    def order(self):
        self.todo[self.sent % 4].put(self.sent)
        self.sent += 1

    def __next__(self):
        while self.next not in self.have:
            idx, data = self.out.get()
            self.have[idx] = data
        self.order()
        self.next += 1
        return self.have.pop(self.next - 1)


def run():
    kit.services(1)
    group = kit.Star()
    data = Loader()
    for i in range(1000):
        next(data)
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(2, run)
