"""Four shards are normalised by threads that meet after each pass; one finds its shard empty and returns."""
import threading

import kit4

barrier = threading.Barrier(4)


def normalise(shard, rows):
    for p in range(100):
        if not rows:
            return
        kit4.crunch(0.2)
        barrier.wait()
        if shard == 3 and p == 12:
            rows = []
        if shard == 0:
            print("pass", p, flush=True)


kit4.role("main")
threads = [threading.Thread(target=normalise, args=(k, [1] * 10), name="shard-%d" % k) for k in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
