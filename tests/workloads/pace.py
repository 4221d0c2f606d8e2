"""Ranks that step together over sockets of their own, with names that no library has; one of them is slower.

pace.py --by ring|hub|thread --culprit RANK --slow 0.3
ring: each sends to the next one and receives from the one before. hub: rank 0 gathers by select and answers.
thread: as ring, but a thread talks, and the main thread waits for it at a queue.
"""
import argparse
import os
import queue
import select
import socket
import threading
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


def place(folder, rank):
    return os.path.join(folder, f"{rank}.sock")


def door(folder):
    s = socket.socket(socket.AF_UNIX)
    s.bind(place(folder, RANK) + ".new")
    s.listen(WORLD)
    os.rename(place(folder, RANK) + ".new", place(folder, RANK))
    return s


def call(folder, rank):
    s = socket.socket(socket.AF_UNIX)
    while not os.path.exists(place(folder, rank)):
        time.sleep(0.02)
    s.connect(place(folder, rank))
    return s


class Ring:
    def __init__(self, folder):
        entry = door(folder)
        self.onward = call(folder, (RANK + 1) % WORLD)
        self.back = entry.accept()[0]

    def turn(self):
        for _ in range(WORLD - 1):  # what one rank has is with all after as many rounds
            self.onward.sendall(b"x" * 4096)
            left = 4096
            while left:
                left -= len(self.back.recv(left))


class Hub:
    def __init__(self, folder):
        if RANK:
            self.line = call(folder, 0)
            return
        entry = door(folder)
        self.lines = [entry.accept()[0] for _ in range(WORLD - 1)]

    def turn(self):
        if RANK:
            self.line.sendall(b"x")
            self.line.recv(1)
            return
        waiting = list(self.lines)
        while waiting:
            for s in select.select(waiting, [], [])[0]:
                s.recv(1)
                waiting.remove(s)
        for s in self.lines:
            s.sendall(b"y")


class Thread:
    def __init__(self, folder):
        self.ring, self.orders, self.done = Ring(folder), queue.Queue(), queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            self.orders.get()
            self.ring.turn()
            self.done.put(1)

    def turn(self):
        self.orders.put(1)
        self.done.get()


def calculate(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.002)
        sum(range(2000))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--by", choices=["ring", "hub", "thread"], required=True)
    p.add_argument("--folder", required=True)
    p.add_argument("--culprit", type=int, default=-1)
    p.add_argument("--slow", type=float, default=0.3)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--step-s", type=float, default=0.15)
    a = p.parse_args()
    others = {"ring": Ring, "hub": Hub, "thread": Thread}[a.by](a.folder)
    for step in range(1, a.steps + 1):
        calculate(a.step_s * (1 + a.slow if RANK == a.culprit else 1))
        others.turn()
        print(f"step {step}/{a.steps} loss 0.5", flush=True)


main()
