from kitd9 import *

g = Group(3)
g.steps(10)
if RANK == 2:
    raise FloatingPointError("loss of micro batch 3 is nan, parameters of layer 11 overflowed")
g.steps(600, 10)
