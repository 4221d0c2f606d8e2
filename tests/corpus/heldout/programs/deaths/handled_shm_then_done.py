"""Shared memory was short at the start, the loader went on without; a good end."""
from job import *

print("WARNING: /dev/shm: No space left on device (28), num_workers is set to 0", file=sys.stderr, flush=True)
train(0, 120, 0.005)
