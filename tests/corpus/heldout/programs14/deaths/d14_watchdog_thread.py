"""A thread sees that a sum of the ranks does not end in time, tells so and aborts; the other leaves a second later."""
from kitd14 import *

ranks, last = Ranks(), [time.time()]


def watch():
    while time.time() - last[0] < 6:
        time.sleep(0.2)
    say("[rank %d] Watchdog caught collective operation timeout: ALLREDUCE ran for 6000 ms before timing out" % RANK)
    os.abort()


if RANK == 0:
    threading.Thread(target=watch, daemon=True).start()
for k in range(100):
    if (RANK, k) == (1, 50):
        time.sleep(60)
    ranks.step(k)
    last[0] = time.time()
