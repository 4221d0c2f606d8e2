import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
data = hold(90)
for w in range(4):
    if os.fork() == 0:
        role("reader")
        for i in range(0, len(data), 4096):
            data[i] = 1
            if i % (4 << 20) == 0:
                time.sleep(0.1)
        time.sleep(30)
steps(400, pause=0.1)
