"""Three ranks as under Slurm, sums at rank 0. Rank 1 comes to long documents: its tokenizer, regular expressions, has more to do."""
import re
import time

import kit7

WORD = re.compile(r"\w+|[^\w\s]+")


def tokenize(seconds):
    """So many words as take so many seconds of a processor."""
    text, n = "a rather long document about nothing, ", 0
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        n += len(WORD.findall(text * 8))
    return n


def train(rank, world, port):
    def before(step):
        kit7.disk(0.3)
        tokenize(0.45 if rank == 1 and kit7.slow() else 0.06)
    kit7.loop(rank, kit7.Hub(rank, world, port), before, lambda s: "INFO:trainer:step %d/3000, loss %.4f" % (s, 3 / (1 + s / 40)))


kit7.ranks(3, train, "slurm")
