"""A loader is spawned by the program's first level, without `if __name__ == "__main__"`: the child that imports the program
would start a child itself. The loader fails by this, and the program by its loader."""
import multiprocessing
import sys

from kitd21 import told


def load(k):
    return k * 2


if multiprocessing.current_process().name == "MainProcess":
    told(25)
loader = multiprocessing.get_context("spawn").Process(target=load, args=(1,))
loader.start()
loader.join()
if loader.exitcode:
    sys.exit("the loader has failed with %d" % loader.exitcode)
