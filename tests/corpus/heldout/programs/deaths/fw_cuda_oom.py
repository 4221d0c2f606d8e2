"""PyTorch: no GPU memory left."""
from job import *
OutOfMemoryErrorClass = type('OutOfMemoryError', (RuntimeError,), {'__module__': 'torch'})
train(0, 40)
raise OutOfMemoryErrorClass('CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.02 GiB is free. Process 4242 has 78.12 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.10 GiB is reserved by PyTorch but unallocated.')
