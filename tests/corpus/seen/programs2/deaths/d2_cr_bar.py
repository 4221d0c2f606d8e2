import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for i in range(60):
    sys.stderr.write(f"\rEpoch 1:  {i:3d}%|{'█' * (i // 4):<25}| {i}/100 [00:{i:02d}<00:40, 24.1it/s, loss=0.4{i}]")
    sys.stderr.flush(); time.sleep(0.03)
open("/data/imagenet/train/img_00931.jpg")
