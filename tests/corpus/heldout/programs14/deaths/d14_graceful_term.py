"""Somebody ends the job by SIGTERM; it saves its state, says so, and leaves with 143."""
from kitd14 import *


def leave(number, frame):
    print("got signal %d, saving last.pt" % number, flush=True)
    time.sleep(0.5)
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, leave)
told(50)
role("main")
told(600, 50)
