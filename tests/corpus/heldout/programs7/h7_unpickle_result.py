"""A pool's worker gives back an exception that cannot be made again from its text; the thread that reads results has failed with it."""
import multiprocessing as mp

import kit7


class BadSample(Exception):
    def __init__(self, index, reason):
        super().__init__("sample %d: %s" % (index, reason))


def tokenize(n):
    kit7.crunch(0.2)
    if n == 30:
        raise BadSample(n, "no text")
    return n


if __name__ == "__main__":
    kit7.role("main")
    with mp.get_context("fork").Pool(2) as pool:
        for n, got in enumerate(pool.imap(tokenize, range(1000))):
            print("%5d samples" % (n + 1), flush=True)
