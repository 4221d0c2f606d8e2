"""Rank 0 tokenizes the data by a pool before the first step, as load_dataset().map(num_proc=3) does. The kernel
kills one of its processes for its memory; the pool starts another one, but the chunk that it had is never done.
Rank 1 waits for rank 0. "slow": nobody is killed, one chunk takes 50 s."""
import multiprocessing
import os
import signal
import time

from kit13 import SLOW, Hub, crunch, me, role, with_parent


def begin(count):
    with_parent()
    with count.get_lock():
        count.value += 1
        role("tokenizer%d" % count.value)


def tokenize(chunk):
    time.sleep(0.1)
    if chunk == 25:
        if SLOW:
            time.sleep(50)
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return [hash((chunk, i)) % 50257 for i in range(1000)]


def dataset():
    done = 0
    context = multiprocessing.get_context("fork")
    with context.Pool(3, begin, (context.Value("i", 0),)) as pool:
        for rows in pool.imap_unordered(tokenize, range(60)):
            done += len(rows)
            if done % 5000 == 0:
                print("Map (num_proc=3): %d%%| %d/60000" % (done / 600, done), flush=True)
    return done


def main():
    rank = int(os.environ["RANK"])
    me("rank%d" % rank)
    hub = Hub(rank, 2, int(os.environ["MASTER_PORT"]))
    rows = hub.reduce(dataset() if rank == 0 else 0)
    for step in range(20):
        crunch(0.1)
        hub.reduce(step)
    print("rank", rank, "trained on", rows, flush=True)


if __name__ == "__main__":
    main()
