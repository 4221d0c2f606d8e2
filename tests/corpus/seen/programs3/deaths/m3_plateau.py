import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

kept = []
for i in range(40):
    kept.append(hold(5)); steps(1, i)
steps(30)
