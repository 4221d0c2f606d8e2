"""The helpers of programs16/deaths."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs16", "deaths"))
from kitd16 import *  # noqa: E402,F401,F403
