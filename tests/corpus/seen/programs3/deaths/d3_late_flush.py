import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

sys.stdout = open(1, "w", buffering=65536)
print("ERROR loss became nan at iter 41, lr was 0.3")
for i in range(40):
    sys.stderr.write(f"\r{i * 2}%|####      | {i}/50 [00:02<00:03, 12.1it/s]"); sys.stderr.flush(); time.sleep(0.04)
sys.exit(1)
