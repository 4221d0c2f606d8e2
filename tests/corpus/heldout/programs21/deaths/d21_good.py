"""A training that warns, tells an error that it has handled, and ends well."""
import sys
import traceback

from kitd21 import told

told(15)
try:
    open("optional/cache.bin")
except OSError:
    traceback.print_exc()
    print("WARNING: no cache, computing anew", file=sys.stderr, flush=True)
told(25, 15)
print("training complete: 40 steps", flush=True)
