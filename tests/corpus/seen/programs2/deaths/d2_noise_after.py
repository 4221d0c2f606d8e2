import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import atexit
class Loader:
    def __del__(self):
        raise TypeError("'NoneType' object is not callable")
keep = Loader()
def late():
    say("/usr/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown")
    say("wandb: Synced 5 W&B file(s), 0 media file(s), 0 artifact file(s) and 0 other file(s)\nwandb: Find logs at: ./wandb/run-1/logs")
atexit.register(late)
steps(6)
raise AttributeError("'LlamaConfig' object has no attribute 'rope_theta'")
