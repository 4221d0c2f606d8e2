import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

raise ImportError("libcudart.so.12: cannot open shared object file: No such file or directory")
