"""A full disk was handled by another folder."""
from job import *

import traceback
train(0, 5)
try:
    open("/dev/full", "w").write("x" * 100000)
except OSError:
    traceback.print_exc()
    print("checkpoint goes to /scratch2 from now on", flush=True)
train(5, 155, 0.003)
assert False, "gradient norm is 0 for 50 steps"
