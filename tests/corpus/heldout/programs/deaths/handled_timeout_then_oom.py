"""Time-outs of the store were handled; then a real lack of GPU memory ends it."""
from job import *

for i in range(4):
    train(i * 20, i * 20 + 20, 0.004)
    print("WARNING store: timed out waiting for key eval/3, using the last value", file=sys.stderr, flush=True)
raise type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"})("CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 2.10 GiB is free.")
