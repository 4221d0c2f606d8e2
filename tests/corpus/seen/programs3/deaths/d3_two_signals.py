import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
n = []
def ask(*a):
    n.append(1)
    print(f"SIGTERM {len(n)}: will stop after this epoch", flush=True)
signal.signal(signal.SIGTERM, ask)
steps(400)
