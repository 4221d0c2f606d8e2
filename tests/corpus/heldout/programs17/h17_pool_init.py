"""A pool is made anew for each evaluation, with an initializer that opens the vocabulary. A clean-up has removed that
file: each worker fails in its initializer, the pool starts another one in its place, for ever, and main waits for its
results."""
import multiprocessing
import os
import sys

from kit17 import crunch, role, told

WORDS = []


def open_vocabulary():
    try:
        with open("vocab.txt") as f:
            WORDS.extend(f)
    except OSError:
        sys.exit(1)


def score(k):
    crunch(0.02)
    return len(WORDS) + k


def evaluate():
    with multiprocessing.get_context("fork").Pool(2, open_vocabulary) as pool:
        return sum(pool.map(score, range(8), 1))


def train():
    role("main")
    with open("vocab.txt", "w") as f:
        f.write("the\nof\n")
    for step in range(400):
        crunch(0.2)
        if step == 35:
            os.unlink("vocab.txt")
        if step % 10 == 0:
            evaluate()
        told(step)


train()
