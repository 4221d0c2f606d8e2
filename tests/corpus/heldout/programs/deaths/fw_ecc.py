"""A GPU with broken memory."""
from job import *
train(0, 40)
raise RuntimeError('CUDA error: uncorrectable ECC error encountered')
