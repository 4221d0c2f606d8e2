import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(10)
say("RuntimeError: CUDA out of memory; retrying with micro batch 4")
steps(30, 10)
raise AssertionError("eval accuracy 0.12 is below the gate of 0.50")
