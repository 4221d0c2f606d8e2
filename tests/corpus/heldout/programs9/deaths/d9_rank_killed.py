from kitd9 import *

g = Group(4, Ring)
g.steps(400)
