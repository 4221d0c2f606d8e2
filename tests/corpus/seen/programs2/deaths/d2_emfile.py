import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
steps(6)
kept = [open("/dev/null") for _ in range(100)]
