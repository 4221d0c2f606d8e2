"""RLIMIT_NPROC: fork fails for a user who is not root."""
from job import *

resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
os.setuid(65534)
train(0, 10)
os.fork()
