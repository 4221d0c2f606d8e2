import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(5)
class ProcessRaisedException(Exception):
    pass
raise ProcessRaisedException("""

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/torch/multiprocessing/spawn.py", line 90, in _wrap
    fn(i, *args)
  File "/opt/app/train.py", line 31, in work
    gamma = 1 / (epoch - 3)
ZeroDivisionError: division by zero
""")
