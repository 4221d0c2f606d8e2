import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

say("Error: could not find cuDNN, falling back")
say("Traceback test: ok"); say("FATAL: none so far")
steps(10)
say("RuntimeError: CUDA out of memory. -- this line comes from the unit test of the retry logic")
say("Killed 0 stale workers; Segmentation fault handler is in place")
steps(10, begin=10)
print("training finished", flush=True)
