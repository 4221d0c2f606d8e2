"""RLIMIT_AS is lower than the job's limit: MemoryError."""
from mem import *
role('main')
resource.setrlimit(resource.RLIMIT_AS, (250 * MIB, 250 * MIB))
keep = []
for i in range(100):
    keep.append(bytearray(8 * MIB))
    time.sleep(0.03)
