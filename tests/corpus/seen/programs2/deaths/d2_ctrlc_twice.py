import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
try:
    steps(400)
except KeyboardInterrupt:
    print("interrupted, saving a checkpoint; once more to leave now", flush=True)
    time.sleep(20)
