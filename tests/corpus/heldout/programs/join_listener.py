"""Rank 0 joins its metrics thread, which stands in accept."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import socket
import threading


class Exporter(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.s = socket.socket()
        self.s.bind(("127.0.0.1", 0))
        self.s.listen(4)
        self.over = False

    def run(self):
        while not self.over:
            c, _ = self.s.accept()
            c.close()

    def close(self):
        self.over = True
        self.join()


def run():
    comm = kit.Star()
    kit.services(2)
    ex = Exporter()
    ex.start()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == 0:
            ex.close()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
