from kitd9 import *

g = Group(4)
g.steps(400)
