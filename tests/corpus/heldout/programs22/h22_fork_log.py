"""A training with a thread that writes the metrics to a slow disk under a lock, and with a loading process that is forked anew
for each epoch. A loader that was forked while the thread wrote has a lock that nobody opens, and waits for it when it
tells its start; the training waits for its batches."""
import multiprocessing
import threading
import time

from kit22 import STEPS, Model, role, with_parent


class Metrics:
    def __init__(self):
        self.lock, self.rows = threading.Lock(), []

    def add(self, row):
        with self.lock:
            self.rows.append(row)

    def write_always(self):
        while True:
            time.sleep(0.03)
            with self.lock:
                with open("metrics.txt", "a") as f:
                    f.write("".join(row + "\n" for row in self.rows))
                    time.sleep(0.3)
                self.rows = []


def load(metrics, batches, epoch):
    with_parent()
    role("loader")
    metrics.add("loader of epoch %d" % epoch)
    for k in range(8):
        time.sleep(0.05)
        batches.put([(x / 10, 3 * x / 10 + 1) for x in range(k, k + 32)])


def next_batch(batches):
    return batches.get()


role("main")
metrics, model, step = Metrics(), Model(0), 0
threading.Thread(target=metrics.write_always, daemon=True, name="metrics").start()
context = multiprocessing.get_context("fork")
for epoch in range(STEPS // 8):
    batches = context.Queue()
    loader = context.Process(target=load, args=(metrics, batches, epoch), name="loader")
    loader.start()
    for _ in range(8):
        model.apply(model.gradient(next_batch(batches)), 0.01)
        model.told(step)
        step += 1
    loader.join()
