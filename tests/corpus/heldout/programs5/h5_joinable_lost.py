"""Shards are put into a JoinableQueue; a consumer that cannot read one ends itself between get() and task_done()."""
import multiprocessing as mp
import os

import kit5


def consume(q, k):
    kit5.with_parent()
    kit5.role("consumer%d" % k)
    while True:
        shard = q.get()
        kit5.crunch(0.4)
        if shard == 13:
            print("consumer %d: cannot decode shard 13" % k, flush=True)
            kit5.role("lost")
            os._exit(0)
        q.task_done()


def main():
    kit5.role("main")
    q = mp.JoinableQueue()
    workers = [mp.Process(target=consume, args=(q, k), daemon=True) for k in range(3)]
    for w in workers:
        w.start()
    for shard in range(24):
        q.put(shard)
    print("24 shards to go", flush=True)
    q.join()
    print("all shards are tokenized")


main()
