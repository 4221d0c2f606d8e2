"""A collector works for a second and then waits for a wish to stop, at most 40 s, twice."""
import threading

import kit6

kit6.role("main")
stop = threading.Event()
for turn in range(3):
    for n in range(6):
        kit6.crunch(0.2)
        print("round %d: host %d" % (turn, n), flush=True)
    if turn < 2:
        stop.wait(40)
