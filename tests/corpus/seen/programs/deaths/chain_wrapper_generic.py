"""A framework wraps everything in 'Trial failed'."""
from job import *

train(0, 6)
def trial():
    raise OSError(116, "Stale file handle", "/mnt/nfs/train.idx")
try:
    trial()
except Exception as e:
    raise RuntimeError("Trial trial_0007 failed, see the error above") from e
