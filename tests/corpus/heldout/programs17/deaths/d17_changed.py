"""A thread adds metrics to a dict while main goes over it."""
from kitd17 import *

metrics = {"loss/%d" % k: 0.0 for k in range(200)}


def measure():
    k = 0
    while True:
        metrics["memory/%d" % k] = k
        k += 1
        time.sleep(0.01)


told(15)
threading.Thread(target=measure, daemon=True).start()
for step in range(100):
    for name in metrics:
        time.sleep(0.0005)
    told(1, begin=step)
