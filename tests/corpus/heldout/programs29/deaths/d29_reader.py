"""A reader's thread fails for a shard that is not there; main's get() runs into its time limit later."""
import queue
import threading

from kitd29 import role, time

BATCHES = queue.Queue(8)


def read():
    for shard in range(100):
        if shard >= 31:
            open("shards/shard-%04d.bin" % shard, "rb")
        time.sleep(0.1)
        BATCHES.put(shard)


role("main")
threading.Thread(target=read, name="reader", daemon=True).start()
for k in range(100):
    BATCHES.get(timeout=4)
    if k % 5 == 0:
        print("step %d loss %.4f" % (k, 1 / (k + 1)), flush=True)
