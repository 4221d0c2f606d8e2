"""A training reads its batches from a pool of two processes that tokenize. One of them was killed in the middle of a long
document, as by the kernel for memory. The pool starts another one, but the batch is lost, and its reader waits for it."""
import multiprocessing
import os
import signal

from kit21 import crunch, role, told, with_parent


def begin():
    with_parent()
    role("worker")


def tokenize(k):
    crunch(0.3)
    if k == 40:
        role("lost")
        os.kill(os.getpid(), signal.SIGKILL)
    return [k] * 512


def train():
    with multiprocessing.get_context("fork").Pool(2, begin) as pool:
        for step, batch in enumerate(pool.imap(tokenize, range(400))):
            crunch(0.1)
            told(step)


role("main")
train()
