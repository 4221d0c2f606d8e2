import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import atexit
@atexit.register
def upload():
    raise ConnectionError("upload of the last metrics failed: endpoint is gone")
steps(20)
print("training finished, best loss 0.41", flush=True)
