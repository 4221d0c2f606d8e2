"""RLIMIT_CPU, hard: SIGKILL of the kernel, nobody sent it."""
from job import *

signal.signal(signal.SIGXCPU, lambda *_: print("SIGXCPU: CPU time limit, saving", flush=True))
resource.setrlimit(resource.RLIMIT_CPU, (2, 3))
train(0, 10)
while True:
    pass
