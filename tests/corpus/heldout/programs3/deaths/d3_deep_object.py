import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(15)
sys.setrecursionlimit(10 ** 8)
node = []
for i in range(3_000_000):
    node = [node]
text = repr(node)
