"""Losses are kept as whole arrays of numpy."""
from mem import *

import numpy as np
role("main")
keep = []
for i in range(2000):
    keep.append(np.ones(MIB // 2))
    time.sleep(0.03)
