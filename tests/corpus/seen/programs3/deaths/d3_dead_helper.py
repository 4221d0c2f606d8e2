import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if os.fork() == 0:
    steps(3)
    fault()
steps(40)
print("done", flush=True)
