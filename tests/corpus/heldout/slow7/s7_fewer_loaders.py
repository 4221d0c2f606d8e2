"""One trainer and four loading processes, a bar of tqdm. Three of the loaders have come to the end of their files and left; one is left to load."""
import multiprocessing

from tqdm import tqdm

import kit7


def load(k, out):
    kit7.with_parent()
    kit7.role("loader%d" % k)
    while k == 0 or not kit7.slow():
        kit7.disk(1.5)
        out.put(k)


if __name__ == "__main__":
    kit7.role("main")
    out, laps = multiprocessing.Queue(2), kit7.Laps(0)
    for k in range(4):
        multiprocessing.Process(target=load, args=(k, out), daemon=True).start()
    for step in tqdm(range(100000), desc="train"):
        out.get()
        kit7.work(0.08)
        kit7.disk(0.35)
        laps.mine()
        laps.done()
        if kit7.over():
            break
