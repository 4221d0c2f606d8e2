"""Two ranks, of which somebody kills rank 1; rank 0 loses the connection."""
from kitd22 import ranks, step

mesh = ranks()
for k in range(300):
    step(mesh, k)
