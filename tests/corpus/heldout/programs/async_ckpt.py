"""save_checkpoint waits for a writer thread whose queue nobody empties any more."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import queue
import threading


class Writer:
    def __init__(self):
        self.q = queue.Queue(2)
        self.idle = threading.Lock()
        threading.Thread(target=self.disk, daemon=True).start()
        self.jobs = queue.Queue()
        threading.Thread(target=self.stage, daemon=True).start()

    def disk(self):
        try:
            for n in range(100):
                if self.q.get() > 2:
                    raise OSError("no space")
        except OSError:
            return

    def stage(self):
        while True:
            j = self.jobs.get()
            with self.idle:
                for _ in range(5):
                    self.q.put(j)

    def save_checkpoint(self, j):
        with self.idle:
            self.jobs.put(j)


def run():
    comm = kit.Star()
    kit.services(1)
    w = Writer() if kit.rank() == 0 else None
    for i in range(1000):
        kit.work(0.3)
        if w and i % 4 == 3:
            w.save_checkpoint(i)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, run)
