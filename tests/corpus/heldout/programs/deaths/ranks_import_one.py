"""One rank lacks a module, the others wait for it."""
from job import *

role(f"rank{RANK}")
if RANK == 1:
    import apex_not_installed
star = Star()
star.train(0, 300)
