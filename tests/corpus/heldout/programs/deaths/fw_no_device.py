"""No GPU is visible."""
from job import *
train(0, 40)
raise RuntimeError('No CUDA GPUs are available')
