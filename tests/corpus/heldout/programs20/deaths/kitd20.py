"""The helpers of programs19/deaths."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs19", "deaths"))
from kitd19 import *  # noqa: E402,F401,F403
