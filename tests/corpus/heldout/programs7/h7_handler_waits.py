"""At SIGTERM the handler waits until the step is over; but handlers run in the main thread, between two lines of this very step."""
import os
import signal
import sys
import threading

import kit7

idle = threading.Event()


def drain(number, frame):
    print("SIGTERM: draining", flush=True)
    idle.wait()
    sys.exit(0)


kit7.role("main")
signal.signal(signal.SIGTERM, drain)
for step in range(1000):
    idle.clear()
    kit7.crunch(0.2)
    if step == 25:
        os.kill(os.getpid(), signal.SIGTERM)
    print("  %3d%%|%s| %d/1000" % (step / 10, "#" * (step // 20), step), flush=True)
    idle.set()
