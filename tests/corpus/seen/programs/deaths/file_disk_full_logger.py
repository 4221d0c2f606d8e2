"""Every log line fails with a full disk, another error ends it, and it follows from it."""
from job import *

train(0, 10)
f = open("/dev/full", "w")
try:
    f.write("x" * 10000)
    f.flush()
except OSError as e:
    raise RuntimeError("cannot save checkpoint step_10") from e
