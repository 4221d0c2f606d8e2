"""A full disk was handled, then a native crash."""
from job import *

import ctypes, traceback
train(0, 5)
try:
    open("/dev/full", "w").write("x" * 100000)
except OSError:
    traceback.print_exc()
train(5, 155, 0.003)
ctypes.string_at(0)
