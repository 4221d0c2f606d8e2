"""A warning and a handled error early on; the last batch of an epoch has 3 samples, and a reshape wants 8."""
import numpy

from kitd28 import role, steps

role("main")
steps(10)
try:
    open("cache/index.json")
except OSError as error:
    print("no cache, building one (%s)" % error, flush=True)
steps(20, 10)
for batch in (numpy.ones((8, 16)), numpy.ones((3, 16))):
    batch.reshape(8, 4, 4)
