"""A thread of metrics adds one for each device while the trainer goes over them to log them."""
from kitd20 import *

metrics = {"loss": 0.4, "lr": 1e-4}


def sample():
    time.sleep(3)
    for device in range(8):
        metrics["memory of %d" % device] = 0.7
        time.sleep(0.07)


threading.Thread(target=sample, name="sampler", daemon=True).start()
for step in range(100):
    for name, value in metrics.items():
        time.sleep(0.05)
    told(1, step)
