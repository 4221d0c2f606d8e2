"""A rank's reader has ended with an error, and its queue stays empty; the loop waits 65 s for a batch, as loaders with a
time limit do, and then goes on with a synchronous reader."""
import queue
import sys
import threading

from kit25 import STALL, Log, Model, role


def read_ahead(batches):
    for i in range(STALL):
        batches.put([i] * 8)


def train():
    role("main")
    batches, model, log = queue.Queue(2), Model(), Log("logger")
    threading.Thread(target=read_ahead, args=(batches,), daemon=True).start()
    ahead = True
    for step in range(120):
        try:
            if ahead:
                batches.get(timeout=65)
        except queue.Empty:
            ahead = False
            print("no batch for 65 s, reading without a thread", flush=True)
        model.step(model.backward())
        log(step, model.loss)


sys.exit(train())
