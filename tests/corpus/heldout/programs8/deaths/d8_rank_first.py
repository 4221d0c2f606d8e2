from kitd8 import *
g = Group(3)
g.steps(12)
if RANK == 0:
    log.info("max_steps reached, saving and leaving")
    sys.exit(0)
g.steps(1000)
