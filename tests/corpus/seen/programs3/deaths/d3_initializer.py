import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

from concurrent.futures import ProcessPoolExecutor
def init():
    raise FileNotFoundError("tokenizer.model is not in /models/llama")
def work(x): return x
if __name__ == "__main__":
    steps(8)
    with ProcessPoolExecutor(2, initializer=init) as pool:
        print(list(pool.map(work, range(8))))
