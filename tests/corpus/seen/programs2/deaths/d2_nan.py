import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import math
steps(10)
print("step 10 loss nan", flush=True)
assert math.isfinite(float("nan")), "loss is nan at step 10, lr 0.003"
