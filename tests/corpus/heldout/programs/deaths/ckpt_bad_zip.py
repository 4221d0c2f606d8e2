"""An archive of weights whose central directory is missing."""
from job import *

import zipfile
with zipfile.ZipFile("w.npz", "w") as z:
    z.writestr("w.npy", bytes(10000))
data = open("w.npz", "rb").read()
open("w.npz", "wb").write(data[:6000])
train(0, 2)
zipfile.ZipFile("w.npz")
