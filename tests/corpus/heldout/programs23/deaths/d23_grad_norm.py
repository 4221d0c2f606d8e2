"""Three ranks, of which rank 1 does not go on with a gradient that is not finite."""
from kitd23 import RANK, ranks, step

tree = ranks()
for k in range(60):
    step(tree, k)
    norm = float("inf") if RANK == 1 and k == 25 else 1.0 / (1 + k)
    if norm == float("inf"):
        raise FloatingPointError("gradient norm is inf at step %d (layer decoder.7.ffn)" % k)
