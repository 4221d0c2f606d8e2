"""RLIMIT_NPROC: a thread cannot be started."""
from job import *

resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
os.setuid(65534)
train(0, 10)
threading.Thread(target=print).start()
