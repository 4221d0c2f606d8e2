"""The generator of tasks for joblib's threads waits for results of tasks which it has not given yet."""
import queue

import joblib

import kit8

results = queue.Queue()


def score(n):
    kit8.crunch(0.2)
    results.put(n)
    return n


def tasks():
    for n in range(8):
        yield joblib.delayed(score)(n)
    best = 0
    for n in range(8, 40):
        for _ in range(4 if n > 20 else 0):
            best = max(best, results.get())
        print("trial %d: best so far %d" % (n, best), flush=True)
        yield joblib.delayed(score)(n + best)


kit8.role("main")
joblib.Parallel(n_jobs=2, prefer="threads", pre_dispatch=4)(tasks())
