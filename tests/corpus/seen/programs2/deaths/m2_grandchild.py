import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:]:
    role("decoder"); grow()
role("main"); keep = hold(150)
p = subprocess.Popen(["sh", "-c", f"{sys.executable} {__file__} tool; echo over"])
steps(400, pause=0.1)
