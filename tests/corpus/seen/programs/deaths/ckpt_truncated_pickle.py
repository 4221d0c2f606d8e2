"""A checkpoint that was cut off while it was written."""
from job import *

open("last.pkl", "wb").write(pickle.dumps({"w": list(range(10000))})[:5000])
train(0, 2)
pickle.load(open("last.pkl", "rb"))
