"""The interpreter warns about leaked objects after the error."""
from job import *

train(0, 20)
print("Traceback (most recent call last):\n  File \"train.py\", line 5, in <module>\nRuntimeError: generator of batches is exhausted at step 20", file=sys.stderr)
print("/usr/lib/python3.11/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 6 leaked semaphore objects to clean up at shutdown\n  warnings.warn('resource_tracker: There appear to be %d '", file=sys.stderr, flush=True)
os._exit(1)
