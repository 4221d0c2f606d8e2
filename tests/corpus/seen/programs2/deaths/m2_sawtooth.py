import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
kept = []
for k in range(80):
    log(k); kept.append(hold(10)); time.sleep(0.04)
    if len(kept) > 22:
        kept.clear()
