import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

if sys.argv[1:] == ["trial"]:
    role("trial")
    time.sleep(30)
role("main")
t = subprocess.Popen([sys.executable, __file__, "trial"])
steps(20)
say("tuner: trial 3 is above its memory budget of 2.0 GiB, ending it")
t.kill(); t.wait()
say("tuner: 1 of 1 trials failed")
sys.exit(1)
