import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(20)
print("FATAL gradient norm 8.1e+09 is above 1000 for 5 steps in a row, giving up", flush=True)
os._exit(17)
