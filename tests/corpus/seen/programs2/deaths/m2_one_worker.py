import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for w in range(3):
    if os.fork() == 0:
        role(f"worker{w}")
        if w == 2:
            grow()
        keep = hold(20); time.sleep(60)
role("main"); steps(400, pause=0.1)
