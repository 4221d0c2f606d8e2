"""An out of memory was handled, the job ended well."""
from job import *

import traceback
train(0, 5)
try:
    raise MemoryError("Unable to allocate 64.0 GiB for an array with shape (8589934592,) and data type float64")
except MemoryError:
    traceback.print_exc()
train(5, 105, 0.003)
print("training finished")
