"""Two ranks. In rank 1 a thread that watches quality begins to compute all the time, and the main thread has to wait for the interpreter."""
import threading
import time

import kit7


def watch():
    x = 1.0
    while True:
        if not kit7.slow():
            time.sleep(0.2)
            continue
        for k in range(200000):
            x = x * 0.999 + k


def train(rank, world, port):
    if rank == 1:
        threading.Thread(target=watch, name="quality", daemon=True).start()

    def before(step):
        for _ in range(60):
            kit7.work(0.002)
            kit7.disk(0.005)
    kit7.loop(rank, kit7.Hub(rank, world, port), before, lambda s: "train step %d loss %.3f" % (s, 3 / (1 + s / 40)))


kit7.by_launcher(2, train)
