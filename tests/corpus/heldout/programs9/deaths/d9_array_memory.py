import resource

import numpy as np

from kitd9 import *

resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
batches(5)
for exponent in (20, 22, 24):
    np.zeros(1 << exponent)
similarity = np.ones((40000, 40000))
print(similarity.shape)
