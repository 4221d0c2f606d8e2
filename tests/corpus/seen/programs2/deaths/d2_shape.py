import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import numpy as np
steps(6)
np.ones((4, 48)) @ np.ones((64, 8))
