"""Three ranks compare their vocabularies; rank 2 has an older one and says so."""
from kitd24 import RANK, ranks, step

mesh = ranks()
for k in range(60):
    step(mesh, k)
    if k == 24:
        total = mesh.mean("vocabulary size", 32000 if RANK < 2 else 31998)
        if RANK == 2:
            raise ValueError("vocabulary of rank 2 has 31998 entries, the mean over ranks is %.1f" % total)
