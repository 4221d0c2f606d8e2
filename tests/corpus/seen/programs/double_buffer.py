"""Double buffer between producer and trainer with a condition; a wake-up is sent before the trainer waits for it."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time


class Buffer:
    def __init__(self):
        self.cond = threading.Condition()
        self.item = None

    def produce(self, limit):
        for n in range(limit):
            with self.cond:
                while self.item is not None:
                    self.cond.wait()
                self.item = n
                self.cond.notify()
            time.sleep(0.1)

    def take(self):
        with self.cond:
            while self.item is None:
                self.cond.wait()
            x, self.item = self.item, None
            self.cond.notify()
            return x


def run():
    group = kit.Mesh()
    b = Buffer()
    threading.Thread(target=b.produce, args=(14 if kit.RANK == 1 else 10**6,), daemon=True).start()
    kit.idle_loaders(1)
    for i in range(1000):
        b.take()
        time.sleep(0.2)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run)
