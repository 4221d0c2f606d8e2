"""An extension was built for another version of a library, which is not there; a try before it hides nothing."""
import ctypes

from kitd11 import *

role("main")
updates(6)
say("WARNING: flash kernels are not available, using the slow ones")
ctypes.CDLL("libcudart.so.11.0")
