"""A trainer saves in a thread. Before the next save it waits for the last one to end, under the lock of the
weights, which that thread wants as well, to copy them; so far it had always been quick enough."""
import threading
import time

from kit15 import crunch, role, told

weights, lock = [0.0] * 1000, threading.Lock()


class Saver:
    def __init__(self):
        self.thread = None

    def save(self, step):
        if self.thread:
            self.thread.join()
        self.thread = threading.Thread(target=self.write, args=(step,), name="saver")
        self.thread.start()

    def write(self, step):
        time.sleep(0.2 if step < 60 else 3.5)
        with lock:
            copy = list(weights)
        with open("step-%d.txt" % step, "w") as f:
            f.write(repr(copy))


role("main")
saver = Saver()
for step in range(200):
    crunch(0.12)
    with lock:
        weights[step] += 1.0
        if step % 20 == 0:
            saver.save(step)
    told(step)
