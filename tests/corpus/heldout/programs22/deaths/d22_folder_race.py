"""Two ranks that both make the folder of the run; the second one fails."""
import os
import time

from kitd22 import RANK, ranks, step

mesh = ranks()
for k in range(20):
    step(mesh, k)
time.sleep(RANK)
os.makedirs("checkpoint-20")
for k in range(20, 60):
    step(mesh, k)
