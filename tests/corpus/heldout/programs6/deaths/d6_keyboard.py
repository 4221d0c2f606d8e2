from kitd6 import *
import multiprocessing as mp
def load(k):
    while True:
        time.sleep(0.2)
if __name__ == "__main__":
    role("main")
    for k in range(2):
        mp.get_context("fork").Process(target=load, args=(k,), daemon=True).start()
    epochs(200, pause=0.2)
