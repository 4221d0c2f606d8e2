"""A trainer and two loading processes; texts are of all lengths, so a step takes 0.3 to 0.8 s."""
import multiprocessing
import random

from tqdm import tqdm

import kit7


def load(k, out):
    kit7.with_parent()
    kit7.role("loader%d" % k)
    while True:
        kit7.disk(0.3)
        out.put(random.uniform(0.25, 0.75))


if __name__ == "__main__":
    kit7.role("main")
    out, laps = multiprocessing.Queue(4), kit7.Laps(0)
    for k in range(2):
        multiprocessing.Process(target=load, args=(k, out), daemon=True).start()
    for step in tqdm(range(100000), desc="train"):
        kit7.disk(out.get())
        kit7.work(0.05)
        laps.mine()
        laps.done()
        if kit7.over(180):
            break
