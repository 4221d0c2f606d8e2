"""The driver is too old."""
from job import *
train(0, 40)
raise RuntimeError('The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver')
