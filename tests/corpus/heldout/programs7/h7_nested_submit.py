"""A pool of two threads; each task gives a part of its work to the same pool and waits for it."""
import concurrent.futures

import kit7


def part(n):
    kit7.crunch(0.1)
    return n


def document(pool, n, deep):
    if deep:
        return sum(f.result() for f in [pool.submit(part, n + k) for k in range(3)])
    return part(n)


kit7.role("main")
pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="tokenize")
for batch in range(1000):
    futures = [pool.submit(document, pool, batch * 4 + k, batch >= 15) for k in range(4)]
    kit7.row(batch, tokens=sum(f.result() for f in futures))
