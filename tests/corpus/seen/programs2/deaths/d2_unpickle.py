import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

import pickle
data = pickle.dumps(list(range(5000)))
steps(4)
pickle.loads(data[:900])
