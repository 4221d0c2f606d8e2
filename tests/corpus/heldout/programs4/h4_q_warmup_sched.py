"""A scheduler of sweeps: the next run is due in seventy seconds, nothing to do till then."""
import sched
import time

import kit4

kit4.role("main")
s = sched.scheduler(time.time, time.sleep)
for at in (1, 2, 70):
    s.enter(at, 1, lambda: (kit4.compute(0.5), print("run finished", flush=True)))
print("3 runs planned", flush=True)
s.run()
