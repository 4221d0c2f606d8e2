import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "/home/me/ckpt/epoch_3.pt")
