"""The best loss is told at the end; no evaluation took place, as the run was shorter than the time between two."""
from kitd17 import *


def train(steps, every):
    for step in range(steps):
        told(1, begin=step)
        if step % every == every - 1:
            best = 1 / (step + 1)
    print("best loss: %.4f" % best)


train(30, 100)
