import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for i in range(60):
    sys.stderr.write(f"\r 6{i}%|████      | {i}/100 [00:{i:02d}<00:40, 24.1it/s]")
    sys.stderr.flush(); time.sleep(0.03)
sys.stderr.write("\rfatal: batch 61 is corrupt (crc mismatch)\n")
sys.exit(3)
