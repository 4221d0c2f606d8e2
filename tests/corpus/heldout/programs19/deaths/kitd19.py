"""The helpers of programs18/deaths."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs18", "deaths"))
from kitd18 import *  # noqa: E402,F401,F403
