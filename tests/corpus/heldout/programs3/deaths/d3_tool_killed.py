import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["tool"]:
    role("tool")
    time.sleep(30)
steps(10)
subprocess.run([sys.executable, __file__, "tool"], check=True)
