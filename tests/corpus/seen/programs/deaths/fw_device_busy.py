"""Somebody else has the GPU for itself."""
from job import *
train(0, 40)
raise RuntimeError('CUDA error: all CUDA-capable devices are busy or unavailable')
