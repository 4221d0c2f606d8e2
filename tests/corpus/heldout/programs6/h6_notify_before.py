"""The parent notifies a spawned scorer when the weights are loaded: before the scorer has begun to wait. Then it joins it."""
import multiprocessing as mp
import time

import kit6


def score(loaded):
    kit6.with_parent()
    kit6.role("scorer")
    for part in range(10):
        kit6.crunch(0.2)
    with loaded:
        loaded.wait()
    print("scoring", flush=True)


if __name__ == "__main__":
    kit6.role("main")
    context = mp.get_context("spawn")
    loaded = context.Condition()
    p = context.Process(target=score, args=(loaded,))
    p.start()
    for part in range(4):
        time.sleep(0.2)
        print("loaded part", part, flush=True)
    with loaded:
        loaded.notify_all()
    p.join()
