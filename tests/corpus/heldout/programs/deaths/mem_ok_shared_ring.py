"""Four processes map the same 200 MiB."""
from mem import *

import mmap
role("main")
ring = mmap.mmap(-1, 200 * MIB)
for i in range(0, len(ring), 4096):
    ring[i] = 1
pids = [fork(f"w{k}", lambda: [sum(ring[i] for i in range(0, len(ring), 4096)) and time.sleep(0.2) for _ in range(6)]) for k in range(4)]
for p in pids:
    os.waitpid(p, 0)
