import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
base = hold(180)
if os.fork() == 0:
    role("child")
    for at in range(0, len(base), 4096):
        base[at] = 1
        if at % (4 << 20) == 0:
            time.sleep(0.05)
    time.sleep(60)
steps(900, pause=0.1)
