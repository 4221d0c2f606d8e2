"""A job that looks each 20 s whether there is new data, as it says, and trains on what has come; thrice."""
import datetime
import sched
import time

from kit11 import crunch, role


def fine_tune(round_):
    for step in range(8):
        crunch(0.2)
    print("%s round %d: loss %.3f" % (datetime.datetime.now().isoformat(timespec="seconds"), round_, 1 / (1 + round_)), flush=True)


role("main")
scheduler = sched.scheduler(time.monotonic, time.sleep)
for k in range(4):
    scheduler.enter(k * 20, 1, fine_tune, (k,))
print("next rounds each 20 s", flush=True)
scheduler.run()
