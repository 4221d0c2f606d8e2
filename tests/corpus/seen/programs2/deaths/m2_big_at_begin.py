import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

keep = hold(240 if RANK == 0 else 1)
role(f"rank{RANK}")
if RANK == 0:
    steps(600, pause=0.1)
steps(10, pause=0.1)
grow()
