from kitd8 import *
g = Group(3)
g.steps(12)
if RANK == 2:
    fault()
g.steps(1000)
