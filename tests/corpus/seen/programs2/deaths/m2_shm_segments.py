import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
k = 0
while True:
    with open(f"/dev/shm/corpus-{os.getpid()}-{k}", "wb") as f:
        f.write(os.urandom(8 << 20))
    log(k); k += 1; time.sleep(0.1)
