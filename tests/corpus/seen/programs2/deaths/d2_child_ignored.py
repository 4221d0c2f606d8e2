import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
subprocess.run([sys.executable, "-c", "raise ValueError('plot backend not there')"])
steps(20, begin=6)
