import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

if sys.argv[1:] == ["rank"]:
    steps(6)
    raise TypeError("Trainer.__init__() got an unexpected keyword argument 'gradient_accumulation_steps_'")
subprocess.run([sys.executable, "-u", __file__, "rank"], check=True)
