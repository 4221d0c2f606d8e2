import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

for k in range(4):
    steps(3, begin=3 * k)
    say(f"WARNING upload attempt {k + 1}/4: HTTP 429 Too Many Requests")
sys.exit("ERROR giving up after 4 attempts: HTTP 429 Too Many Requests")
