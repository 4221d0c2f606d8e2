import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
with open("/dev/full", "wb", buffering=0) as f:
    f.write(b"x" * 4096)
