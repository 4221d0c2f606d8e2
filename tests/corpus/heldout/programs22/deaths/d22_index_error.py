"""Three ranks; rank 2's part of the data has fewer samples than its table of lengths says."""
from kitd22 import RANK, ranks, step


class Share:
    def __init__(self, rank):
        self.samples = ["sample"] * (90 if rank == 2 else 400)

    def __getitem__(self, k):
        return self.samples[k]


mesh, share = ranks(), Share(RANK)
for k in range(100):
    batch = [share[4 * k + n] for n in range(4)]
    step(mesh, k)
