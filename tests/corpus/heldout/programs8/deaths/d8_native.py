import faulthandler
faulthandler.enable()
from kitd8 import *


def fused_attention():
    ctypes.memset(16, 0, 8)


fit(8)
fused_attention()
