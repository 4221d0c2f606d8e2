"""PyTorch: no memory of the host left for a tensor."""
from job import *
train(0, 40)
raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 549755813888 bytes. Error code 12 (Cannot allocate memory)")
