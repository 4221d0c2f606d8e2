import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
for k in range(4):
    steps(5, begin=5 * k)
    x = hold(200); time.sleep(0.3); del x
