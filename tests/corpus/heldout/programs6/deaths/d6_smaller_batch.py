from kitd6 import *
role("main")
epochs(2)
say("WARNING: CUDA out of memory. Tried to allocate 2.50 GiB. Retrying with batch size 16")
epochs(100, 3, 0.2)
