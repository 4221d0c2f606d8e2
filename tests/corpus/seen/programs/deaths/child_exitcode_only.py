"""The main process tells only that a child has failed."""
from job import *

import multiprocessing as mp
def sampler():
    raise IndexError("replay buffer is empty")
if __name__ == "__main__":
    p = mp.get_context("fork").Process(target=sampler)
    p.start()
    p.join()
    train(0, 10)
    if p.exitcode:
        print("sampler failed, exiting", flush=True)
        sys.exit(1)
