"""A native crash in a helper thread."""
from job import *

import ctypes
def decode():
    time.sleep(1.5)
    ctypes.memset(16, 0, 8)
threading.Thread(target=decode, name="decoder").start()
train(0, 500, 0.02)
