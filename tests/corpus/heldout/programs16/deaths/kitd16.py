"""The helpers of programs14/deaths."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs14", "deaths"))
from kitd14 import *  # noqa: E402,F401,F403
