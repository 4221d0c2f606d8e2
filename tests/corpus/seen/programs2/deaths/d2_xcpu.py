import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(5)
resource.setrlimit(resource.RLIMIT_CPU, (1, 5))
while True:
    sum(range(100000))
