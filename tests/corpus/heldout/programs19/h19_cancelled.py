"""A search has its trials in a pool of threads and leaves the rest out when one is good enough: it shuts the pool down
and has what waits cancelled. Then it goes through all of its futures as they are completed. Of cancelled ones nobody
tells that any more, as the pool's threads have left."""
import itertools
from concurrent.futures import ThreadPoolExecutor, as_completed

from kit19 import crunch, role, told

STEP = itertools.count()


def trial(k):
    for _ in range(12):
        crunch(0.2)
        told(next(STEP))
    return 0.5 + 0.1 * k


def search():
    role("main")
    pool, good, scores = ThreadPoolExecutor(2), 0.9, {}
    futures = [pool.submit(trial, k) for k in range(12)]
    for future in as_completed(futures):
        scores[future] = future.result()
        if scores[future] >= good:
            pool.shutdown(wait=False, cancel_futures=True)
            break
    for future in as_completed(futures):
        if not future.cancelled():
            scores[future] = future.result()
    print("best %.2f of %d" % (max(scores.values()), len(scores)), flush=True)


search()
