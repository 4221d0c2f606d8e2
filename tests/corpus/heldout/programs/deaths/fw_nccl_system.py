"""NCCL has an error of the system."""
from job import *
train(0, 40)
raise RuntimeError('NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\nLast error:\nError while creating shared memory segment /dev/shm/nccl-5Pq3Yz (size 9637888), error: No space left on device (28)')
