"""Somebody kills a training, after an error of memory that it has overcome."""
from kitd24 import role, steps

role("main")
steps(5)
try:
    raise MemoryError("cannot allocate 12 GiB for the cache")
except MemoryError as error:
    print("warning: %s; going on without" % error, flush=True)
steps(300, 5)
