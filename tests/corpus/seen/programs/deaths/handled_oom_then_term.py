"""An out of memory was handled; somebody ends the job long after."""
from job import *

role("main")
train(0, 5)
print("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB; falling back to gradient checkpointing", file=sys.stderr, flush=True)
train(5, 600, 0.05)
