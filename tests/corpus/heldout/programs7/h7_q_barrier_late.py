"""Three processes meet at a Barrier of multiprocessing; worker 2 multiplies for 64 s between two shards."""
import multiprocessing as mp
import time

import numpy as np

import kit7


def work(k, meet):
    kit7.with_parent()
    kit7.role("worker%d" % k)
    a = np.ones((300, 300))
    for shard in range(12):
        kit7.crunch(0.25)
        end = time.time() + (64 if (k, shard) == (2, 6) else 0)
        while time.time() < end:
            a = a @ a / a.max()
        meet.wait()
        if k == 0:
            print("[shard %05d] merged, loss=%.3f" % (shard, 4 / (shard + 1)), flush=True)


if __name__ == "__main__":
    kit7.role("main")
    meet = mp.Barrier(3)
    procs = [mp.Process(target=work, args=(k, meet)) for k in range(3)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
