"""Helpers of the twenty-seventh set's deaths: those of the twenty-fifth."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs25", "deaths"))
from kitd25 import RANK, WORLD, ranks, role, step, steps  # noqa: E402,F401
