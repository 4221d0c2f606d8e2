import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import numpy as np
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
steps(5)
np.ones((4096, 4096, 64))
