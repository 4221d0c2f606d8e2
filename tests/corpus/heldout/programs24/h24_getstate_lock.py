"""A training and a process that saves. A snapshot is put into a queue, whose own thread pickles it; what pickles the best
model takes the model's lock. The training waits for the saver's word with that lock held.

slow: pickling takes no lock, and the saver compresses one model for 66 s."""
import multiprocessing
import threading

from kit24 import SLOW, Descent, busy, role, told, with_parent


class Model:
    def __init__(self):
        self.lock, self.weights = threading.Lock(), [0.0] * 64

    def __getstate__(self):
        if SLOW:
            return {"weights": self.weights}
        with self.lock:
            return {"weights": self.weights}


def save_all(snapshots, saved):
    with_parent()
    role("saver")
    while True:
        step, what = snapshots.get()
        if SLOW and step == 36:
            busy(66)
        with open("model", "w") as f:
            f.write(str(what["weights"] if isinstance(what, dict) else len(what.__dict__)))
        saved.put(step)


def save(model, step, snapshots, saved):
    with model.lock:
        snapshots.put((step, model if step == 36 else {"weights": model.weights}))
        return saved.get()


def train():
    role("main")
    context = multiprocessing.get_context("fork")
    snapshots, saved = context.Queue(), context.SimpleQueue()
    context.Process(target=save_all, args=(snapshots, saved), name="saver", daemon=True).start()
    model, descent = Model(), Descent(1)
    for step in range(60 if SLOW else 500):
        descent.follow(descent.slope())
        model.weights[step % 64] = descent.at
        if step % 12 == 0:
            save(model, step, snapshots, saved)
        told(step, descent.loss)


train()
