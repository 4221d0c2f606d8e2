import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(15)
print("preemption notice: saved step 15, leaving with 137 so that the queue starts this job again", flush=True)
sys.exit(137)
