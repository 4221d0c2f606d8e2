import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
small = hold(50)
steps(30)
data = bytearray(os.urandom(1 << 20))
data *= 500
steps(100)
