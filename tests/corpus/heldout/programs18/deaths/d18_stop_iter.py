"""A generator of batches calls next() on samples that have come to an end."""
from kitd18 import *


def batches(samples, size):
    while True:
        yield [next(samples) for _ in range(size)]


step = 0
for batch in batches(iter(range(230)), 8):
    told(1, step)
    step += 1
