"""Rank 1 evaluates with pure computing; the ring waits for it."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import math
import time


class Trainer:
    def __init__(self):
        self.ring = kit.Ring()
        self.r = kit.rank()

    def validate(self):
        t, acc = time.time() + 60, 0.0
        while time.time() < t:
            for k in range(1, 20000):
                acc += math.sin(k) / k
        return acc

    def fit(self):
        for i in range(22):
            kit.work(0.2)
            self.ring.all_reduce(0.5)
            if self.r == 0:
                kit.step(i)
        if self.r == 1:
            self.validate()
        self.ring.all_reduce(1)


kit.go(3, lambda: Trainer().fit())
