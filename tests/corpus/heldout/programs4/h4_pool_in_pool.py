"""Tasks of a thread pool that put their halves into the same pool and wait for them."""
import concurrent.futures

import kit4

pool = concurrent.futures.ThreadPoolExecutor(4)


def tokenize(rows, depth):
    if depth == 0:
        kit4.crunch(0.05)
        return rows
    half = rows // 2
    return sum(f.result() for f in [pool.submit(tokenize, half, depth - 1), pool.submit(tokenize, rows - half, depth - 1)])


kit4.role("main")
for i in range(50):
    n = pool.submit(tokenize, 1000, 1 if i < 12 else 3).result()
    kit4.crunch(0.2)
    print("document %d: %d tokens" % (i, n), flush=True)
