import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role(f"rank{RANK}")
base = hold(40)
if RANK == 0:
    grow(6)
steps(900, pause=0.1)
