import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
for k in range(900):
    with open(f"/dev/shm/corpus-{os.getpid()}-{k}", "wb") as f:
        f.write(os.urandom(1 << 20) * 4)
    steps(1, k, 0.08)
