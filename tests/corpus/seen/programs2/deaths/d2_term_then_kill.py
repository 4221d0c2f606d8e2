import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
signal.signal(signal.SIGTERM, lambda n, f: print("got SIGTERM, saving checkpoint", flush=True))
steps(400)
