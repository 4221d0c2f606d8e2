"""A trainer has a pool tokenize what a generator gives it. The generator gives at most eight documents that are not yet
used, by a semaphore. In the second epoch the pool takes documents by sixteens, to save messages: the ninth is given when
one is used, which happens when sixteen are there."""
import multiprocessing
import threading

from kit18 import crunch, role, told, with_parent


def tokenize(document):
    crunch(0.3)
    return [document] * 10


def documents(room, n):
    for k in range(n):
        room.acquire()
        yield k


def train(pool, epoch, chunk):
    room = threading.BoundedSemaphore(8)
    for k, _ in enumerate(pool.imap_unordered(tokenize, documents(room, 60), chunksize=chunk)):
        room.release()
        told(60 * epoch + k)


if __name__ == "__main__":
    role("main")
    with multiprocessing.get_context("fork").Pool(2, with_parent) as workers:
        train(workers, 0, 4)
        train(workers, 1, 16)
