"""From None: only the last error is there."""
from job import *

train(0, 6)
try:
    int("x")
except ValueError:
    raise RuntimeError("flag --layers must be a number") from None
