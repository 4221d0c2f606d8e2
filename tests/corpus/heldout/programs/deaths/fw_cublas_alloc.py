"""CuBLAS cannot allocate: nearly always no GPU memory."""
from job import *
train(0, 40)
raise RuntimeError('CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`')
