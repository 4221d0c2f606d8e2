from kitd6 import *
import numpy as np
np.arange(1 << 22, dtype=np.float32).tofile("features.f32")
data = np.memmap("features.f32", dtype=np.float32, mode="r", shape=(4096, 1024))
subprocess.Popen([sys.executable, "-c", "import os, time\ntime.sleep(2)\nos.truncate('features.f32', 1 << 16)"])
for e in range(1, 60):
    data[(e * 97) % 4096].sum()
    epochs(1, e, 0.1)
    data[4000:].sum()
