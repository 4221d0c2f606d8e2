"""A process of a pool of tokenizers was killed within a task; the pool starts another one, the task's result never comes."""
import multiprocessing as mp
import os
import signal

import tqdm

import kit8


def begin(counter):
    kit8.with_parent()
    with counter.get_lock():
        counter.value += 1
        kit8.role("worker%d" % counter.value)


def tokenize(n):
    kit8.crunch(0.15)
    if n == 100:
        kit8.role("killed")
        os.kill(os.getpid(), signal.SIGKILL)
    return [n] * 64


if __name__ == "__main__":
    kit8.role("main")
    mp.set_start_method("fork")
    counter = mp.Value("i", 0)
    with mp.Pool(3, begin, (counter,)) as pool:
        for _ in tqdm.tqdm(pool.imap(tokenize, range(200)), total=200, desc="tokenizing"):
            pass
