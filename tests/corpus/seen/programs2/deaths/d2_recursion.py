import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(4)
def tree(n):
    return [tree(n + 1)]
tree(0)
