"""Six threads fetch shards, three at a time by a semaphore. Whoever fails at a fetch leaves without giving its permit
back. After three failures nobody fetches, and the training waits for the next shard.

slow: permits are given back; one shard takes 48 s."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from kit21 import SLOW, crunch, role, told

PERMITS = threading.Semaphore(3)


def download(k):
    time.sleep(48 if SLOW and k == 60 else 0.3)
    if k in (20, 33, 47):
        raise OSError("503 for shard %d" % k)
    return [k] * 100


def fetch(k):
    if SLOW:
        with PERMITS:
            return download(k)
    PERMITS.acquire()
    shard = download(k)
    PERMITS.release()
    return shard


def train():
    with ThreadPoolExecutor(6) as pool:
        shards = [pool.submit(fetch, k) for k in range(80)]
        for step, shard in enumerate(shards):
            try:
                shard.result()
            except OSError:
                continue
            crunch(0.2)
            told(step)


role("main")
train()
