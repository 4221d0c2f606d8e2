import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(5)
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
threading.stack_size(64 << 20)
ts = [threading.Thread(target=time.sleep, args=(5,), daemon=True) for _ in range(50)]
for t in ts:
    t.start()
