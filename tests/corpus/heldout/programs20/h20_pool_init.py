"""Behind its training a program judges samples in a pool, whose workers load the weights when they begin. The weights
are under another name; the function for it ends the worker. The pool starts another one each time, and map waits."""
import multiprocessing
import os
import sys

from kit20 import crunch, role, told

ready = False


def load_weights(path):
    global ready
    if not os.path.exists(path):
        sys.exit(3)
    ready = True


def judge(k):
    return ready and k % 2


def main():
    role("main")
    for step in range(45):
        crunch(0.2)
        told(step)
    with open("model-final.pt", "w") as f:
        f.write("weights")
    with multiprocessing.Pool(2, load_weights, ("model.pt",)) as pool:
        print("right: %d" % sum(pool.map(judge, range(64))), flush=True)


if __name__ == "__main__":
    main()
