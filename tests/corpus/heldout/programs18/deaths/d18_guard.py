"""A program spawns a loader where it is imported as well, as it has no guard for that."""
import multiprocessing

from kitd18 import *


def load():
    time.sleep(1)


told(15)
loader = multiprocessing.get_context("spawn").Process(target=load, name="loader")
loader.start()
loader.join()
if loader.exitcode:
    sys.exit("the loader ended with %d" % loader.exitcode)
told(15, 15)
