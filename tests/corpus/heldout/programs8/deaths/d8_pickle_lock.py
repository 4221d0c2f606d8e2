from kitd8 import *
import multiprocessing
fit(4)
context = multiprocessing.get_context("spawn")
if __name__ == "__main__":
    context.Process(target=print, args=(threading.Lock(),)).start()
