from kitd9 import *

g = Group(6)
g.steps(9)
if RANK == 4:
    time.sleep(0.3)
    sys.exit("vocabulary of this node differs from rank 0's: 50257 tokens, 50304 wanted")
g.steps(600, 9)
