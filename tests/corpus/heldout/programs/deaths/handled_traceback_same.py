"""The same error was handled many times; a different one ended it."""
from job import *

import traceback
for i in range(30):
    train(i * 5, i * 5 + 5, 0.002)
    try:
        raise ValueError(f"sample {i} has no label")
    except ValueError:
        traceback.print_exc()
raise LookupError("unknown encoding: utf-9")
