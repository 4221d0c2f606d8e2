import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import json
def out(**k):
    print(json.dumps({"ts": time.time(), **k}), flush=True)
def hook(t, v, tb):
    out(level="error", event="uncaught", exception="".join(traceback.format_exception(t, v, tb)), rank=0)
    out(level="info", event="flushing metrics", pending=0)
sys.excepthook = hook
steps(10, "json")
raise IndexError("label 1001 is out of range for 1000 classes")
