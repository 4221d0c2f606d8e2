import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
base = hold(100)
steps(80, pause=0.1)
kept = []
for i in range(900):
    kept.append(hold(10)); steps(1, 80 + i, 0.05)
