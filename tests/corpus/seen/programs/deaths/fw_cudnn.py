"""CuDNN cannot run the convolution."""
from job import *
train(0, 40)
raise RuntimeError('cuDNN error: CUDNN_STATUS_EXECUTION_FAILED')
