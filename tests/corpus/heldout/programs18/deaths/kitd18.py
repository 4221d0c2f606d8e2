"""The helpers of programs17/deaths."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs17", "deaths"))
from kitd17 import *  # noqa: E402,F401,F403
