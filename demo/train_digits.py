"""A small training run with a real fault in it: recognises handwritten digits, and its loader never forgets.

The digits are scikit-learn's bundled ones (1797 images of 8 x 8), the net is two layers in numpy, and two
loader processes feed it over a queue, as a framework's data loader does. Loader 0 hands out plain batches.
Loader 1 hands out shifted and noisy ones and keeps each of them in a cache, so as not to compute it twice.
No two are the same, so nothing is ever found in that cache, and as later epochs ask for more variants of each
image, it grows faster and faster. On a large machine nobody notices for hours.

After each epoch the state is saved. Started again (RESTART_COUNT above 0) the run goes on from there, and
takes the careful road: the cache then holds CACHE_AFTER_RESTART batches at most. DIGITS_CACHE_BATCHES sets
the bound from outside.

    train_digits.py --out FOLDER [--epochs N]
"""
import os

# One core for the net: the loaders need theirs. Before numpy reads it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import ctypes
import multiprocessing
import pathlib
import queue
import sys
import time

import numpy as np

SIDE = 32  # images are enlarged, so that a shift by a pixel is a quarter of a stroke
BATCH = 128
STEPS_AN_EPOCH = 64
HIDDEN = 256
CACHE_AFTER_RESTART = 32
PR_SET_NAME = 15


def name_process(name):
    """As ps and top show it."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def load_digits():
    from sklearn.datasets import load_digits as load
    digits = load()
    images = (digits.images / 16.0).astype(np.float32).repeat(4, axis=1).repeat(4, axis=2)
    order = np.random.default_rng(7).permutation(len(images))
    images, labels = images[order], digits.target[order]
    return (images[300:], labels[300:]), (images[:300], labels[:300])


def augment(images, variants, random):
    """Each image shifted and with noise, in several variants."""
    made = []
    for _ in range(variants):
        down, right = random.integers(-4, 5, size=2)
        moved = np.roll(images, (down, right), axis=(1, 2))
        made.append(moved + random.normal(0, 0.08, moved.shape).astype(np.float32))
    return np.concatenate(made)


def cache_bound():
    """How many batches a loader may keep; None: no bound, which is the fault."""
    if "DIGITS_CACHE_BATCHES" in os.environ:
        return int(os.environ["DIGITS_CACHE_BATCHES"])
    return CACHE_AFTER_RESTART if int(os.environ.get("RESTART_COUNT", "0")) > 0 else None


def loader(number, images, labels, first_epoch, batches):
    name_process(f"loader-{number}")
    random = np.random.default_rng([number, first_epoch])
    cache, bound, made = {}, cache_bound(), 0
    while True:
        variants = 1 if number == 0 else 2 + (first_epoch + made * 2 // STEPS_AN_EPOCH) // 3
        chosen = tuple(random.integers(0, len(images), BATCH))
        if number == 0:
            batch = images[list(chosen)]
        else:
            if chosen not in cache:
                cache[chosen] = augment(images[list(chosen)], variants, random)
            batch = cache[chosen]
            while bound is not None and len(cache) > bound:
                del cache[next(iter(cache))]
        picked = random.choice(len(batch), BATCH, replace=False)
        batches.put((batch[picked].reshape(BATCH, -1), labels[np.array(chosen)[picked % BATCH]]))
        made += 1


class Net:
    """One hidden layer, softmax, momentum."""

    def __init__(self, random):
        self.values = {"w1": random.normal(0, 0.03, (SIDE * SIDE, HIDDEN)), "b1": np.zeros(HIDDEN),
                       "w2": random.normal(0, 0.09, (HIDDEN, 10)), "b2": np.zeros(10)}
        self.speed = {key: np.zeros_like(value) for key, value in self.values.items()}

    def forward(self, x):
        hidden = np.maximum(0, x @ self.values["w1"] + self.values["b1"])
        scores = hidden @ self.values["w2"] + self.values["b2"]
        scores -= scores.max(axis=1, keepdims=True)
        share = np.exp(scores)
        return hidden, share / share.sum(axis=1, keepdims=True)

    def train(self, x, y, rate):
        hidden, share = self.forward(x)
        loss = -np.log(share[np.arange(len(y)), y] + 1e-9).mean()
        wrong = share.copy()
        wrong[np.arange(len(y)), y] -= 1
        wrong /= len(y)
        back = (wrong @ self.values["w2"].T) * (hidden > 0)
        slopes = {"w2": hidden.T @ wrong, "b2": wrong.sum(axis=0), "w1": x.T @ back, "b1": back.sum(axis=0)}
        for key, slope in slopes.items():
            self.speed[key] = 0.9 * self.speed[key] - rate * slope
            self.values[key] += self.speed[key]
        return loss

    def accuracy(self, images, labels):
        return float((self.forward(images.reshape(len(images), -1))[1].argmax(axis=1) == labels).mean())


def save(path, net, epoch):
    """Beside, then renamed: whoever ends this run at any moment leaves a whole file."""
    new = path.with_suffix(".new.npz")
    np.savez(new, epoch=epoch, **net.values, **{f"speed_{k}": v for k, v in net.speed.items()})
    new.replace(path)


def resume(path, net):
    if not path.exists():
        return 0
    with np.load(path) as kept:
        for key in net.values:
            net.values[key], net.speed[key] = kept[key], kept[f"speed_{key}"]
        return int(kept["epoch"])


def next_batch(batches, workers):
    while True:
        try:
            return batches.get(timeout=1)
        except queue.Empty:
            for worker in workers:
                if worker.exitcode is not None:
                    raise SystemExit(f"loader (pid {worker.pid}) ended with {worker.exitcode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    checkpoint = args.out / "digits.npz"

    (images, labels), held_out = load_digits()
    net = Net(np.random.default_rng(3))
    epoch = resume(checkpoint, net)
    if epoch:
        print(f"going on after epoch {epoch} from {checkpoint.name}; cache bound: {cache_bound()} batches", flush=True)
    batches = multiprocessing.Queue(maxsize=8)
    workers = [multiprocessing.Process(target=loader, args=(n, images, labels, epoch, batches), daemon=True)
               for n in range(2)]
    for worker in workers:
        worker.start()
    while epoch < args.epochs:
        start = time.monotonic()
        losses = [net.train(*next_batch(batches, workers), rate=0.05 if epoch < 20 else 0.01)
                  for _ in range(STEPS_AN_EPOCH)]
        epoch += 1
        save(checkpoint, net, epoch)
        print(f"epoch {epoch:2d}/{args.epochs}  loss {np.mean(losses):.3f}  accuracy {net.accuracy(*held_out):.1%}  "
              f"{time.monotonic() - start:.2f} s", flush=True)
    reached = net.accuracy(*held_out)
    print(f"done: {reached:.1%} of {len(held_out[1])} digits never trained on are read correctly", flush=True)
    return 0 if reached >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
