"""Three ranks. Rank 1 has a label that the model has no class for, and its device's library ends the process's work."""
from kitd21 import RANK, Ranks


def cross_entropy(label, classes=80):
    if not 0 <= label < classes:
        raise RuntimeError("CUDA error: device-side assert triggered: t >= 0 && t < n_classes failed (label %d)" % label)
    return 0.5


ranks = Ranks()
for k in range(100):
    cross_entropy(80 if RANK == 1 and k == 30 else k % 80)
    ranks.step(k)
