import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(10)
def run():
    try:
        raise MemoryError("cannot pin 4.0 GiB of host memory")
    finally:
        sys.exit(3)
run()
