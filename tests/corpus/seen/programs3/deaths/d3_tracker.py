import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(12)
code = subprocess.run([sys.executable, "-c", "raise ValueError('n_heads 12 does not divide hidden size 1000')"]).returncode
say("/usr/lib/python3.11/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown")
say("  warnings.warn('resource_tracker: There appear to be %d '")
sys.exit(code)
