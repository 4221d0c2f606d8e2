"""A progress bar that only ever returns to the line's begin, then the error."""
from job import *

for i in range(100):
    sys.stderr.write(f"\rEpoch 1: {i}%|{'#' * (i // 10):<10}|")
    sys.stderr.flush()
    time.sleep(0.01)
raise RuntimeError("stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 5")
