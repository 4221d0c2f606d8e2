"""Two ranks. Rank 0 takes too long for its data; rank 1's watchdog ends rank 1 by abort() after its time limit."""
import os
import threading
import time

from kitd25 import RANK, ranks, step

ring, since = ranks(), [time.monotonic()]


def watch():
    while time.monotonic() - since[0] < 6:
        time.sleep(0.2)
    print("[rank 1] Watchdog caught collective operation timeout: ALLREDUCE ran for 6003 ms before timing out", flush=True)
    os.abort()


if RANK == 1:
    threading.Thread(target=watch, daemon=True).start()
for k in range(200):
    if RANK == 0 and k == 30:
        time.sleep(600)
    step(ring, k)
    since[0] = time.monotonic()
