"""A shard of the data is missing."""
from job import *

for i in range(5):
    train(i * 10, i * 10 + 10, 0.005)
open("/data/c4/train-00005-of-01024.tar", "rb")
