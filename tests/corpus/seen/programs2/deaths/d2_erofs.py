import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(6)
raise OSError(errno.EROFS, os.strerror(errno.EROFS), "/mnt/out/events.out.tfevents.1")
