import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(10)
say("WARNING: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.31 GiB is free. retrying with micro batch 4")
steps(60, begin=10)
open("/proc/ckpt/step_80.pt", "wb")
