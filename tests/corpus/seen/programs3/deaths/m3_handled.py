import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
steps(10)
try:
    bytearray(2 << 30)
except MemoryError:
    print("MemoryError: batch halved", flush=True)
steps(15)
