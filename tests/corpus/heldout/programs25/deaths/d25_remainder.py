"""The last batch is smaller than the targets that were made for it."""
import numpy

from kitd25 import role, steps

role("main")
for epoch in range(2):
    print("epoch %d" % epoch, flush=True)
    steps(8)
logits, targets = numpy.ones((31, 10)), numpy.ones((32, 10))
print(((logits - targets) ** 2).mean())
