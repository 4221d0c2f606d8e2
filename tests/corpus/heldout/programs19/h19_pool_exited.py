"""A trainer has the documents of its next epoch tokenized by a pool while it trains, and gets them behind the `with` of
that pool. The end of the `with` has ended the workers, and the rest of the documents is nobody's."""
import multiprocessing

from kit19 import crunch, role, told


def tokenize(k):
    crunch(0.5)
    return [k] * 50


def train():
    role("main")
    for epoch in range(4):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            tokens = pool.map_async(tokenize, range(20 if epoch < 1 else 90), chunksize=1)
            for step in range(epoch * 40, epoch * 40 + 40):
                crunch(0.2)
                told(step)
        print("epoch %d has %d documents" % (epoch + 1, len(tokens.get())), flush=True)


train()
