import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
kept = []
for i in range(900):
    steps(1, i, 0.08)
    kept.append(hold(4))
