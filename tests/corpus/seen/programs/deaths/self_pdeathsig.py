"""The kernel ends the trainer as its parent has gone (PR_SET_PDEATHSIG); the parent left by choice."""
from job import *

import ctypes
def trainer():
    ctypes.CDLL(None).prctl(1, 9)
    train(0, 1000, 0.1)
fork("trainer", trainer)
time.sleep(2.5)
print("launcher: lost the lease of node 4, leaving", flush=True)
os._exit(12)
