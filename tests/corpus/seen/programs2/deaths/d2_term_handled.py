import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role("main")
def bye(n, f):
    print("caught signal 15, writing last checkpoint", flush=True)
    sys.exit(143)
signal.signal(signal.SIGTERM, bye)
steps(400)
