from kitd6 import *
import multiprocessing as mp
def load(k):
    role(f"loader{k}")
    kept = []
    while True:
        if k == 1:
            kept.append(hold(4))
        time.sleep(0.12)
if __name__ == "__main__":
    role("main")
    base, history = hold(80), []
    for k in range(3):
        mp.get_context("spawn").Process(target=load, args=(k,), daemon=True).start()
    for n in range(2000):
        steps(1, n, 0.1)
        history.append(bytes(100_000))
