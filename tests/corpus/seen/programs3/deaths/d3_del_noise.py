import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

class Loader:
    def __init__(self): self.ok = True
    def __del__(self): self.iterator.close()
kept = Loader()
steps(15)
raise ValueError("expected 32000 rows in lm_head, checkpoint has 32064")
