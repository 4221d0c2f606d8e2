"""Six ranks in a pipeline; ranks wait for 0, 0 waits for 4, 4 waits in a queue of its thread pool."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import queue
import threading
import time


class Tokens:
    def __init__(self):
        self.inbox, self.outbox = queue.SimpleQueue(), queue.SimpleQueue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            x = self.inbox.get()
            if x % 29 == 13:
                continue            # an empty line is dropped, with it the answer
            self.outbox.put(x)

    def __call__(self, x):
        self.inbox.put(x)
        return self.outbox.get()


def run():
    group = kit.Star()
    kit.idle_loaders(1)
    tok = Tokens()
    for i in range(1000):
        time.sleep(0.3)
        tok(i if kit.RANK == 4 else 0)
        group.allreduce(i)
        if kit.RANK == 0:
            kit.step(i)


kit.main(6, run)
