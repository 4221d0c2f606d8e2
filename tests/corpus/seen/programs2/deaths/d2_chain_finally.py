import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

writer = None
def train():
    steps(8, "meter")
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied (4x512 and 768x768)")
try:
    train()
finally:
    writer.flush()
