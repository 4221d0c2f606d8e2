"""Two ranks; rank 1's native part ends the process by itself, with a last line."""
import os
import sys

from kitd24 import RANK, ranks, step

mesh = ranks()
for k in range(60):
    step(mesh, k)
    if RANK == 1 and k == 22:
        print("fatal: license server refused seat 9 (pool exhausted)", file=sys.stderr, flush=True)
        os._exit(3)
