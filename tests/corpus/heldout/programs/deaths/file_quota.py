"""The quota of the home folder is used up."""
from job import *

train(0, 10)
raise OSError(122, "Disk quota exceeded", "/home/ml/runs/9/ckpt.pt")
