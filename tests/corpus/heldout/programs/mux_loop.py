"""Rank 2's event loop stands in select; nobody writes to its wake-up socket."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import selectors
import socket


class Loop:
    def __init__(self):
        self.sel = selectors.DefaultSelector()
        self.a, self.b = socket.socketpair()
        self.sel.register(self.a, selectors.EVENT_READ, self.on_wake)
        self.ready = False

    def on_wake(self):
        self.a.recv(1)
        self.ready = True

    def until_ready(self):
        self.ready = False
        while not self.ready:
            for key, _ in self.sel.select():
                key.data()


def run():
    comm = kit.Star()
    lp = Loop()
    if kit.rank() == 2:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if not (i == 15 and kit.rank() == 2):
            lp.b.send(b"x")
        lp.until_ready()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
