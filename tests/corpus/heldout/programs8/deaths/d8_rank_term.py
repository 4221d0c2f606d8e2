from kitd8 import *
g = Group(2)
g.steps(1000)
