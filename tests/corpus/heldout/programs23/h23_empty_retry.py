"""A training with a loading process. The loader ends without a word when its list of shards is at its end, which it
takes from an old file; the training asks its queue again each 5 s."""
import multiprocessing
import queue

from kit23 import Line, crunch, role, told, with_parent


def load(batches):
    with_parent()
    role("loader")
    for shard in range(36):
        crunch(0.15)
        batches.put([shard] * 16)


def next_batch(batches):
    while True:
        try:
            return batches.get(timeout=5)
        except queue.Empty:
            continue


def train():
    role("main")
    batches, line = multiprocessing.Queue(4), Line(0)
    loader = multiprocessing.Process(target=load, args=(batches,), name="loader")
    loader.start()
    for step in range(500):
        next_batch(batches)
        line.apply(line.gradient(0.05))
        told(step, line.loss)


train()
