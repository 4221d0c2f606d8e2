import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(10)
print("dataset hash 3fa1 does not match the checkpoint's 77c0; refusing to resume", flush=True)
os._exit(4)
