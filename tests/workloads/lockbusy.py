"""lockbusy: threads that take and give back locks and queues all the time. Threads 0 to 3 use only lock 0, the others
only lock 1; one thread is late each time. First line: {"tids": [[...], [...]]}."""
import json
import queue
import sys
import threading
import time

locks = [threading.Lock(), threading.Lock()]
condition, ring = threading.Condition(), [queue.Queue() for _ in range(3)]
tids, ready = [[], []], threading.Barrier(12)


def user(side):
    tids[side].append(threading.get_native_id())
    ready.wait()
    while True:
        with locks[side]:
            time.sleep(0.0005)
        with condition:
            condition.notify()
            condition.wait(0.001)


def passer(n):
    ready.wait()
    while True:
        ring[(n + 1) % 3].put(ring[n].get())


for i in range(8):
    threading.Thread(target=user, args=(i // 4,), daemon=True).start()
for i in range(3):
    threading.Thread(target=passer, args=(i,), daemon=True).start()
ready.wait()
ring[0].put(1)
print(json.dumps({"tids": tids}), flush=True)
sys.stdin.read()
