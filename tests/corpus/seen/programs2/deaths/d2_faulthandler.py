import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import ctypes
steps(8)
def forward():
    ctypes.string_at(16)
forward()
