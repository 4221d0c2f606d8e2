"""An out of memory was handled 200 steps ago."""
from job import *

import traceback
train(0, 5)
try:
    raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free.")
except RuntimeError:
    traceback.print_exc()
    print("retrying with batch size 16", flush=True)
train(5, 205, 0.003)
{"train": 1}["validation"]
