"""The helpers of the ninth set's deaths, and another form of steps."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs9", "deaths"))
from kitd9 import *  # noqa: E402,F401,F403
from kitd9 import time  # noqa: E402


def epochs(n, pause=0.2):
    for k in range(n):
        print("Epoch %d: %3d%%|%s| loss=%.3f" % (k // 10, k % 10 * 10, "#" * (k % 10), 2 / (1 + k)), flush=True)
        time.sleep(pause)


__all__ = [n for n in globals() if not n.startswith("_")]
