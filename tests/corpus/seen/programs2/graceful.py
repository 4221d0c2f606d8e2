"""The job has trained to its end and takes a minute more: the last uploads are drained before the ranks leave."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time


def upload(q):
    while (k := q.get()) is not None:
        time.sleep(kit.secs(6))


def run():
    group = kit.Ring()
    q = queue.Queue()
    t = threading.Thread(target=upload, args=(q,), name="upload")
    t.start()
    for i in range(30):
        time.sleep(0.3)
        if i % 3 == 0:
            q.put(i)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "dict")
    if kit.RANK == 0:
        print("training done, waiting for uploads", flush=True)
    q.put(None)
    t.join()


kit.main(3, run)
