import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:]:
    role("child"); grow()
role("main"); keep = hold(90); steps(400, pause=0.1)
