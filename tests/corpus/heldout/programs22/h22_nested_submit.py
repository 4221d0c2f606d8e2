"""A preparation of shards with a pool of four threads. A shard of many files gives its files to the same pool and waits for them.
When all four threads have such a shard, the files wait for a thread and the threads for the files."""
import random
import time
from concurrent.futures import ThreadPoolExecutor

from kit22 import role

POOL = ThreadPoolExecutor(4, thread_name_prefix="prepare")


def tokenize(text):
    time.sleep(0.05)
    return [hash(word) % 32000 for word in text.split()]


def prepare(shard, texts):
    if len(texts) < 4:
        return [tokenize(t) for t in texts]
    time.sleep(0.1)  # its list is read
    return [f.result() for f in [POOL.submit(tokenize, t) for t in texts]]


def wait_for(shards):
    return [len(f.result()) for f in shards]


role("main")
draw = random.Random(3)
for step in range(400):
    many = 3 if step < 25 else 6
    shards = [["a b c %d" % draw.randrange(99)] * many for _ in range(4)]
    lengths = wait_for([POOL.submit(prepare, k, texts) for k, texts in enumerate(shards)])
    if step % 5 == 0:
        print("step %d shards %d texts %d" % (step, 4 * step, sum(lengths)), flush=True)
