"""Helpers of the twenty-ninth set: a parabola that is trained, steps that are told in six styles, and the ranks of the sets
before it (kit4's ways to start them, kit25's ring over TCP and star over unix sockets)."""
import json
import logging
import os
import random
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs25"))
from kit25 import OWN, Ring, Star, busy  # noqa: E402,F401
from kit4 import crunch, dial, free_port, listen, main, read, role, start, with_parent  # noqa: E402,F401

SLOW = "slow" in sys.argv
STALL = 80
STEPS = 100 if SLOW else 4000


class Model:
    def __init__(self, seed=0):
        self.draw, self.weight = random.Random(seed), 5.0

    def loss(self):
        return (self.weight - 2) ** 2 + 0.1

    def gradient(self, seconds=0.25):
        crunch(seconds)
        return 2 * (self.weight - 2) + self.draw.gauss(0, 0.2)

    def update(self, gradient, rate=0.02):
        self.weight -= rate * gradient


class Report:
    """What a loop tells of itself: "loss", "epoch", "bar", "json", "logging", "stderr", "file" or "mute"."""

    def __init__(self, style, rank=0, each=4, total=STEPS):
        self.style, self.rank, self.each, self.total, self.begin = style, rank, each, total, time.time()
        if style == "logging":
            logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s")
        if style == "file":
            os.makedirs("logs", exist_ok=True)
            self.file = open("logs/rank_%d.log" % rank, "w", buffering=1)

    def __call__(self, step, loss):
        if self.style == "bar":
            done = 30 * step // self.total
            print("\rtrain: %3d%%|%s%s| %d/%d [%.2fit/s, loss=%.3f]" % (100 * step // self.total, "#" * done, " " * (30 - done), step,
                  self.total, step / (time.time() - self.begin + 1e-3), loss), end="", file=sys.stderr, flush=True)
            return
        if step % self.each or self.style == "mute":
            return
        if self.style == "loss":
            print("iter %d: loss %.4f, time %.1fms" % (step, loss, 250.0), flush=True)
        elif self.style == "epoch":
            print("Epoch %d/%d  batch %d/20  loss=%.4f" % (step // 20 + 1, self.total // 20, step % 20, loss), flush=True)
        elif self.style == "json":
            print(json.dumps({"rank": self.rank, "global_step": step, "train/loss": round(loss, 4)}), flush=True)
        elif self.style == "logging":
            logging.info("[rank %d] step=%d loss=%.4f lr=0.02", self.rank, step, loss)
        elif self.style == "stderr":
            print("| epoch %3d | %5d batches | ms/batch 250.00 | loss %5.3f |" % (step // 20, step, loss), file=sys.stderr, flush=True)
        elif self.style == "file":
            self.file.write("%s step %d loss %.4f\n" % (time.strftime("%H:%M:%S"), step, loss))
