"""A search over parameters by joblib; one fit of the third round takes 50 s, the other worker has nothing to do
meanwhile."""
import time

from joblib import Parallel, delayed

from kit12 import role


def fit(depth, seconds):
    import numpy
    role("worker")
    end, best = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        best = max(best, float(numpy.linalg.norm(numpy.random.rand(100, 100))))
        time.sleep(0.02)
    return depth, best


def main():
    role("main")
    for round_ in range(5):
        seconds = [1, 50 if round_ == 2 else 1, 1, 1]
        got = Parallel(n_jobs=2)(delayed(fit)(d, s) for d, s in enumerate(seconds))
        print("round", round_, max(got, key=lambda x: x[1]), flush=True)


if __name__ == "__main__":
    main()
