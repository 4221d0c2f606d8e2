"""A pool of processes prepares batches; then main alone merges what it has, for 50 s, while the pool has nothing
to do, and the pool is used again."""
import concurrent.futures
import time

from kit15 import crunch, role, told


def prepare(k):
    time.sleep(0.2)
    return [k] * 100


def epoch(pool, begin):
    for step, batch in enumerate(pool.map(prepare, range(begin, begin + 60)), begin):
        crunch(0.12)
        told(step)


if __name__ == "__main__":
    role("main")
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        epoch(pool, 0)
        print("merging", flush=True)
        for _ in range(100):
            crunch(0.5)
        epoch(pool, 60)
