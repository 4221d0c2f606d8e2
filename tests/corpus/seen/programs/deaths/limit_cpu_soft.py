"""RLIMIT_CPU, soft: SIGXCPU of the kernel."""
from job import *

resource.setrlimit(resource.RLIMIT_CPU, (2, 60))
train(0, 10)
while True:
    pass
