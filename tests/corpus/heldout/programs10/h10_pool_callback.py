"""The callback of a pool's task asks the pool for one more and waits for it: it runs in the very thread that takes the results."""
import multiprocessing
import time

import kit10


def score(k):
    kit10.with_parent()
    time.sleep(0.2)
    return k % 7


def main():
    kit10.role("main")
    results = []
    with multiprocessing.get_context("fork").Pool(3) as pool:
        def done(x):
            if x == 6:
                x = pool.apply(score, (x + 100,))  # a second look at the best
            results.append(x)
            print("trial %d: %d" % (len(results), x), flush=True)
        todo = [pool.apply_async(score, (k,), callback=done) for k in range(20)]
        for t in todo:
            t.wait()


main()
