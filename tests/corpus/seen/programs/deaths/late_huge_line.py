"""A line of 200 KB is between the steps and the error."""
from job import *

train(0, 10)
print("tokens " + "17 " * 70000, flush=True)
raise RuntimeError("beam search returned no hypothesis")
