"""A prefetching thread dies by an error of its own, the main loop finds its queue empty after 5 s and gives up."""
import queue
import threading

from kitd28 import role, steps

role("main")
ready = queue.Queue(4)


def prefetch():
    for k in range(20):
        ready.put(k)
    raise FileNotFoundError(2, "No such file or directory", "/data/shard-020.tar")


threading.Thread(target=prefetch, daemon=True).start()
for step in range(100):
    ready.get(timeout=5)
    steps(1, step)
