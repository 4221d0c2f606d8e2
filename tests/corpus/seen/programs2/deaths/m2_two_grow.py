import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for name, mib in (("slow", 2), ("fast", 8)):
    if os.fork() == 0:
        role(name); grow(mib)
role("main"); steps(400, pause=0.1)
