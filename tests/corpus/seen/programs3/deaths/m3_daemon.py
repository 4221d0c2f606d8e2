import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

role("main")
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    role("daemon")
    grow(6)
os.wait()
base = hold(80)
steps(900, pause=0.1)
