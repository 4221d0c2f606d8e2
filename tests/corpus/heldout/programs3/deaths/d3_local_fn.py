import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import multiprocessing as mp
def main():
    steps(8)
    fn = lambda x: x + 1
    p = mp.get_context("spawn").Process(target=print, args=(fn,))
    p.start()
if __name__ == "__main__":
    main()
