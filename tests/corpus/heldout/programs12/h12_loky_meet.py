"""Three jobs of one Parallel meet by files before they go on. There are two workers: two jobs wait for the third,
which waits for a worker."""
import os
import time

from joblib import Parallel, delayed

from kit12 import role

JOBS = 3


def meet(k, n, folder, round_):
    open(f"{folder}/{round_}.{k}", "w").close()
    while not all(os.path.exists(f"{folder}/{round_}.{i}") for i in range(n)):
        time.sleep(0.2)


def fit(k, n, folder, round_):
    role(f"worker{k}")
    import numpy
    a = numpy.random.rand(200, 200)
    for _ in range(5):
        time.sleep(0.2)
        a = a @ a / numpy.linalg.norm(a)
    meet(k, n, folder, round_)
    return float(a.sum())


def main():
    role("main")
    folder = os.getcwd()
    for round_, jobs in enumerate([2, 2, JOBS]):
        got = Parallel(n_jobs=2)(delayed(fit)(k, jobs, folder, round_) for k in range(jobs))
        print("round", round_, [round(x, 3) for x in got], flush=True)


if __name__ == "__main__":
    main()
