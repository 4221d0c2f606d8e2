"""Helpers of the twenty-eighth set's deaths: the twenty-fifth set's, and a job's begin."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs25", "deaths"))
from kitd25 import RANK, WORLD, ranks, role, step, steps  # noqa: E402,F401
