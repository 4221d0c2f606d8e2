"""PyTorch was not built for this GPU."""
from job import *
train(0, 40)
raise RuntimeError('CUDA error: no kernel image is available for execution on the device')
