"""The helpers of the tenth set's deaths, and one more form of steps."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs10", "deaths"))
from kitd10 import *  # noqa: E402,F401,F403
from kitd10 import time  # noqa: E402


def updates(n, pause=0.15):
    for k in range(n):
        print("| INFO | train_inner | {'num_updates': %d, 'loss': %.3f, 'wps': 10412}" % (k, 9 / (1 + k)), flush=True)
        time.sleep(pause)


__all__ = [n for n in globals() if not n.startswith("_")]
