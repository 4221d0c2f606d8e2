"""Augmentations run in a pool of four threads; a mosaic is four images, each loaded in the same pool, and waited for. Once
four mosaics come at a time.

slow: they never do; an image is read for 66 s from a slow disk."""
import concurrent.futures
import time

from kit27 import SLOW, STALL, STEPS, crunch, role, tell

role("main")
pool = concurrent.futures.ThreadPoolExecutor(4)


def image(k):
    time.sleep(66 if SLOW and k == STALL * 8 else 0.02)
    return k


def mosaic(k):
    time.sleep(0.02)
    return sum(f.result() for f in [pool.submit(image, k + i) for i in range(4)])


for step in range(STEPS):
    mosaics = 4 if step == STALL and not SLOW else 2
    jobs = [pool.submit(mosaic, step * 8) for _ in range(mosaics)]
    crunch(0.2)
    for job in jobs:
        job.result()
    tell(step, "train | epoch {epoch} | {part}/30 | loss {loss:.3f}")
