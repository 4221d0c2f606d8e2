"""Numpy reads an array that is cut off."""
from job import *

import numpy as np
np.save("w.npy", np.zeros(100000))
with open("w.npy", "r+b") as f:
    f.truncate(3000)
train(0, 2)
np.load("w.npy")
