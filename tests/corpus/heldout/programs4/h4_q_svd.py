"""One numpy call after the other on a matrix that is large for this machine, with no word in between."""
import time

import numpy as np

import kit4

kit4.role("main")
a = np.random.rand(700, 700)
print("whitening", a.shape, flush=True)
end = time.time() + 65
while time.time() < end:
    u, s, v = np.linalg.svd(a)
    a = (u * s) @ v
print("largest value %.2f" % s[0])
