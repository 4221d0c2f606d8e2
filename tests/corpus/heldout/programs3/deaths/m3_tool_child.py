import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["tool"]:
    role("tool")
    grow(6)
role("main")
base = hold(90)
p = subprocess.Popen([sys.executable, __file__, "tool"])
steps(900, pause=0.1)
