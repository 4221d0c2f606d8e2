"""An extension was built for another version of a library than the machine has. It is asked for behind the warm-up."""
import ctypes

from kitd20 import *

told(30)
say("warm-up done, using the fused kernels")
kernels = ctypes.CDLL("libcudart.so.11.0")
told(30, 30)
