import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

def late(*a):
    raise TimeoutError("step 20 took longer than 1 s")
signal.signal(signal.SIGALRM, late)
steps(20)
signal.alarm(1)
time.sleep(30)
