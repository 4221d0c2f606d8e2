"""A single process with two threads that load; the disk becomes slow, and the training waits for its queue."""
import queue
import sys
import threading

from tqdm import tqdm

import kit6


def load(batches):
    while True:
        for _ in range(10):
            read_image(0.16 if kit6.slow() else 0.05)
        batches.put(bytes(100000))


def read_image(seconds):
    kit6.disk(seconds)


kit6.role("rank0")
kit6.role("main")
batches, laps = queue.Queue(4), kit6.Laps(0)
for _ in range(2):
    threading.Thread(target=load, args=(batches,), daemon=True).start()
for _ in tqdm(range(3000), desc="train", file=sys.stderr):
    batches.get()
    laps.mine()
    kit6.work(0.12)
    laps.done()
    if kit6.over():
        break
