"""Two ranks; rank 1 is late at a monitored barrier, and rank 0 names it and fails."""
import time
from datetime import timedelta

from kitd26 import RANK, net, ranks, train

dist = ranks()
train(net(), 20)
if RANK == 1:
    time.sleep(300)
dist.monitored_barrier(timeout=timedelta(seconds=6))
