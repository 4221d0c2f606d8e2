"""A pool of two workers answers requests; for 52 s there are none, workers and main wait."""
import multiprocessing
import time

import numpy

from kit12 import role, with_parent

QUIET = {6: 52}


def begin():
    with_parent()
    role("worker")


def answer(request):
    a = numpy.random.rand(200, 200)
    for _ in range(5):
        a = a @ a / numpy.linalg.norm(a)
        time.sleep(0.1)
    return request, float(a.sum())


def main():
    role("main")
    with multiprocessing.Pool(2, initializer=begin) as pool:
        for k in range(12):
            time.sleep(QUIET.get(k, 0.5))
            print("request", k, pool.map(answer, range(4 * k, 4 * k + 4))[0], flush=True)


if __name__ == "__main__":
    main()
