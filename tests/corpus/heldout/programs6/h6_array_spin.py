"""A trainer looks at a counter in shared memory in a loop without a pause; the actor that counts has left with 0 when its episodes were over."""
import multiprocessing as mp
import os

import numpy as np

import kit6


def act(counter):
    kit6.role("actor")
    for n in range(1, 31):
        kit6.crunch(0.15)
        counter[0] = n
    os._exit(0)


kit6.role("main")
shared = mp.get_context("fork").RawArray("q", 8)
counter = np.frombuffer(shared, dtype=np.int64)
mp.get_context("fork").Process(target=act, args=(counter,), daemon=True).start()
for step in range(1, 100):
    while counter[0] < step:
        pass
    print("update", step, flush=True)
