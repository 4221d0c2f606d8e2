from kitd7 import *
train(2)
import flash_kernels_v3
